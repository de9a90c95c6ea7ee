"""Which outputs of a pipeline may share the query that reads their input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.pipelines.run.plan import Arguments, batch_frames
from penstock.pipelines.run.row_wise import row_wise_input
from penstock.pipelines.sinks.contract import BatchSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.pipelines.declare import Pipeline
    from penstock.pipelines.run_settings import RunSettings


def sharing_outputs(
    pipeline: Pipeline,
    settings: RunSettings,
    arguments: Arguments,
    frames: Mapping[str, DataFrame],
) -> dict[str, str]:
    """By output, the input that it is made of row by row, where it may share what is read of it."""
    if len(pipeline.outputs) - len(pipeline.apart) < 2 or "realTime" in settings.trigger:
        return {}
    found: dict[str, str] = {}
    for output, sink in pipeline.outputs.items():
        if output in pipeline.apart or not isinstance(sink, BatchSink):
            continue
        input = row_wise_input(frames[output])
        if input is not None:
            found[output] = input
    taken = {each for each in found.values() if _takes_batches(pipeline, arguments, each, found)}
    return {output: input for output, input in found.items() if input in taken}


def _takes_batches(
    pipeline: Pipeline, arguments: Arguments, input: str, sharing: Mapping[str, str]
) -> bool:
    """Whether the function makes plain frames of a plain one: Spark has calls for streams alone."""
    frame = arguments[input]
    try:
        made = batch_frames(
            pipeline, arguments, input, frame.sparkSession.createDataFrame([], frame.schema)
        )
    except Exception:
        return False
    return not any(made[output].isStreaming for output, own in sharing.items() if own == input)
