"""From a declaration to frames: decoded inputs with their watch, open tables, named outputs."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from penstock.pipelines.error import DeclarationError
from penstock.pipelines.sources.topic import until
from penstock.pipelines.transforms.decoder import ERROR, good
from penstock.pipelines.transforms.each import failed_column
from penstock.pipelines.transforms.expectation import input_metrics, judged_output
from penstock.pipelines.transforms.late import event_time_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.pipelines.declare import Pipeline
    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sources.topic import TopicSource

INPUT_METRIC = "penstock.input."
"""Before an input's name: an observed metric with the counts `rows` and `poison`, `failed`,
`oldest_ms`, and those of its expectations."""
OUTPUT_METRIC = "penstock.output."
"""Before an output's name: an observed metric with the counts of its expectations."""


Arguments = Mapping[str, Any]
"""What the pipeline's function is given: inputs and tables, by name."""


def arguments_of(
    pipeline: Pipeline,
    spark: SparkSession,
    settings: RunSettings,
    starting: Mapping[str, str],
    ends: Mapping[tuple[str, int], int],
) -> Arguments:
    """`starting` offsets by input, and `ends` by partition, where there are any."""
    arguments: dict[str, Any] = {
        name: input_frame(name, source, spark, settings, starting.get(name), ends)
        for name, source in pipeline.inputs.items()
    }
    for name, table in pipeline.tables.items():
        arguments[name] = table.open(settings)
    return _accepted(pipeline, arguments)


def output_frames(pipeline: Pipeline, arguments: Arguments) -> dict[str, DataFrame]:
    """What the function makes of its inputs, by output."""
    made = _by_output(pipeline, pipeline.function(**arguments))
    for output, frame in made.items():
        if not getattr(frame, "isStreaming", False):
            raise DeclarationError(
                f"{pipeline.name}: output {output} is no streaming frame: make it of the inputs"
            )
    return made


def batch_frames(
    pipeline: Pipeline, arguments: Arguments, input: str, batch: DataFrame
) -> dict[str, DataFrame]:
    """The same of one batch of an input: an output of that alone is a plain frame."""
    return _by_output(pipeline, pipeline.function(**{**arguments, input: batch}))


def judged_frame(
    pipeline: Pipeline, output: str, frame: DataFrame, settings: RunSettings
) -> DataFrame:
    """An output with its expectations, in a query of its own."""
    rules = pipeline.expect.get(output, ())
    metric = OUTPUT_METRIC + output if rules and "realTime" not in settings.trigger else None
    return judged_output(frame, rules, metric=metric, output=output)


def input_frame(
    name: str,
    source: TopicSource,
    spark: SparkSession,
    settings: RunSettings,
    starting: str | None,
    ends: Mapping[tuple[str, int], int],
) -> DataFrame:
    raw = source.stream(spark, settings, starting=starting)
    rows = source.decode.apply(until(raw, ends) if ends else raw)
    if source.each is not None:
        rows = source.each.apply(rows)
    rows = source.judged(rows, stops=True)
    if "realTime" not in settings.trigger:
        # Real-time mode takes no observed metrics; there every batch is looked through.
        rows = _observed(rows, name, source)
    frame = good(rows, source.decode, source.schema)
    if source.event_time is not None:
        _require_time(name, source.event_time, frame)
        frame = frame.withWatermark(source.event_time, source.lateness)
    return frame


def _observed(rows: DataFrame, name: str, source: TopicSource) -> DataFrame:
    """Also keeps Spark from decoding twice: it would push the filter that follows below it."""
    from pyspark.sql import functions as F

    told = [F.count(F.lit(1)).alias("rows"), F.count(F.col(ERROR)).alias("poison")]
    if source.each is not None:
        told.append(failed_column())
    if source.event_time is not None:
        oldest = F.min(F.unix_millis(event_time_of(source.event_time)))
        told.append(oldest.alias("oldest_ms"))
    if source.expect:
        told += input_metrics(source.expect)
    return rows.observe(INPUT_METRIC + name, *told)


def _require_time(name: str, column: str, frame: DataFrame) -> None:
    kind = dict(frame.dtypes).get(column)
    if kind != "timestamp":
        found = "has no such column" if kind is None else f"has it as {kind}"
        raise DeclarationError(
            f"input {name}: event_time={column!r} is to be a timestamp, and the schema {found}"
        )


def _accepted(pipeline: Pipeline, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    wanted = inspect.signature(pipeline.function).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in wanted.values())
    missing = [
        name
        for name, each in wanted.items()
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        and name not in arguments
    ]
    unknown = [] if takes_all else [name for name in arguments if name not in wanted]
    if missing or unknown:
        raise DeclarationError(
            f"{pipeline.name}: the function takes {', '.join(wanted) or 'nothing'}, and is given"
            f" {', '.join(arguments)}: name its parameters after the inputs and tables"
        )
    return arguments


def _by_output(pipeline: Pipeline, made: Any) -> dict[str, DataFrame]:
    if not isinstance(made, Mapping):
        if len(pipeline.outputs) != 1:
            raise DeclarationError(
                f"{pipeline.name} has the outputs {', '.join(pipeline.outputs)}: return a frame"
                " for each, as a dict"
            )
        made = {next(iter(pipeline.outputs)): made}
    if set(made) != set(pipeline.outputs):
        raise DeclarationError(
            f"{pipeline.name} declares the outputs {', '.join(sorted(pipeline.outputs))} and"
            f" returned {', '.join(sorted(made)) or 'none'}"
        )
    return {output: made[output] for output in pipeline.outputs}


def used_inputs(frame: DataFrame) -> tuple[str, ...]:
    """The inputs that a frame is made of, in the order of Spark's sources; none in real-time mode.

    Topics do not tell it: two inputs may read one topic, and an output may use the second alone.
    """
    plan = cast(Any, frame)._jdf.queryExecution().analyzed().toString()
    found = re.findall(rf"\bCollectMetrics {re.escape(INPUT_METRIC)}(\w+)", plan)
    return tuple(dict.fromkeys(found))


def source_names(
    pipeline: Pipeline, sources: Sequence[Mapping[str, Any]], used: Sequence[str] = ()
) -> tuple[str, ...]:
    """Which input each source of a query is, told by the topics it reads, among those it uses."""
    possible = list(used or pipeline.inputs)
    free = list(possible)
    found = []
    for topics in sources:
        # Two inputs of one topic: in the order of the plan, which is that of their first use.
        fitting = [each for each in free if _reads(pipeline.inputs[each], topics)]
        fitting += [each for each in possible if _reads(pipeline.inputs[each], topics)]
        found.append(fitting[0])
        if fitting[0] in free:
            free.remove(fitting[0])
    return tuple(found)


def _reads(source: TopicSource, topics: Collection[str]) -> bool:
    if source.pattern is not None:
        return all(re.fullmatch(source.pattern, each) for each in topics)
    return set(source.topics) == set(topics)


def positions_json(offsets: Mapping[tuple[str, int], int]) -> str:
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in offsets.items():
        by_topic.setdefault(topic, {})[str(partition)] = offset
    return json.dumps(by_topic)
