"""Outputs of a keyed pipeline that end in a sink of rows: a table, a lake, a service.

A table cannot be part of a Kafka transaction. So such an output is written to a topic of its own
first, together with the states and the position, and from there by a DataFrame pipeline to the
sink. Whatever is killed, the topic holds each record once, and every attempt at a batch of it
reads the same rows: all that the sinks ask for to write a batch once. Here are the declaration and
that pipeline; `sink_run` runs it beside the keyed one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.pipelines.declare import Pipeline
from penstock.pipelines.sources.topic import TopicSource
from penstock.pipelines.transforms.dead_letter import late_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.sinks.contract import Sink
    from penstock.pipelines.transforms.decode import Decoder

    Shape = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class SinkOutput:
    sink: Sink
    decode: Decoder
    """Makes rows of the values that the step writes."""
    rows: Shape | None = None
    """What the sink gets of the decoded rows; None: their fields."""
    topic: str | None = None
    """On the way to the sink; None: named after the pipeline and the output."""


def into(
    sink: Sink, *, decode: Decoder, rows: Shape | None = None, topic: str | None = None
) -> SinkOutput:
    """An output whose values become rows of a sink, such as `into(sinks.delta(), decode=…)`."""
    return SinkOutput(sink, decode, rows, topic)


def sink_topic(pipeline: str, output: str) -> str:
    return f"{pipeline}.{output}"


def writing_pipeline(pipeline: KeyedPipeline) -> Pipeline:
    """From the topics of those outputs to their sinks, one query each."""
    return Pipeline(
        name=f"{pipeline.name}.sinks",
        function=_Shapes(pipeline),
        inputs={
            name: TopicSource((pipeline.outputs[name],), decode=each.decode)
            for name, each in pipeline.sinks.items()
        },
        outputs={name: each.sink for name, each in pipeline.sinks.items()},
        dead_letters=pipeline.dead_letters,
        late=late_topic(pipeline.name),
        breaker=pipeline.breaker,
        options=pipeline.options,
    )


class _Shapes:
    """The function of that pipeline, whose inputs are named like its outputs."""

    def __init__(self, pipeline: KeyedPipeline) -> None:
        self._sinks = pipeline.sinks

    def __call__(self, **frames: Any) -> dict[str, DataFrame]:
        return {name: self._shaped(name, frame) for name, frame in frames.items()}

    def _shaped(self, name: str, frame: DataFrame) -> DataFrame:
        output = self._sinks[name]
        if output.rows is not None:
            return output.rows(frame)
        return frame.select(*(each.name for each in output.decode.schema))
