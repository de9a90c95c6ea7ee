"""The DataFrame pipeline that brings outputs of a keyed one from their topics to their sinks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.pipelines.declare import Pipeline
from penstock.pipelines.sources.topic import TopicSource
from penstock.pipelines.transforms.dead_letter import late_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.pipelines.keyed.declare import KeyedPipeline


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
