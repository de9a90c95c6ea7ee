"""Several outputs in one query: a batch is read and decoded once, kept, and handed to each sink.

The pipeline's function is called for each batch, with its rows as a plain frame. Every sink leaves
out a batch that it has written, so a batch that is repeated after some had written it is written by
the others alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.pipelines.run.plan import OUTPUT_METRIC
from penstock.pipelines.sinks.checkpoint import Checkpoint
from penstock.pipelines.sinks.contract import ROWS_METRIC, BatchSink, triggered
from penstock.pipelines.transforms.expectation import JUDGED, output_metrics, stopped_output

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.declare import Pipeline
    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.contract import Write

Make = Callable[["DataFrame"], "Mapping[str, DataFrame]"]
"""What the pipeline's function makes of a batch, by output."""


class SharedQuery:
    def __init__(
        self,
        pipeline: Pipeline,
        outputs: Sequence[str],
        frames: Mapping[str, DataFrame],
        rows: DataFrame,
        make: Make,
    ) -> None:
        """`rows` is the input as a stream; `frames` the outputs as they are made of streams."""
        self._pipeline, self._outputs = pipeline, tuple(outputs)
        self._frames, self._rows, self._make = frames, rows, make
        self._writes: dict[str, Write] = {}
        self._places: dict[str, Checkpoint] = {}
        self._told: dict[int, dict[str, Any]] = {}
        self.writing: str | None = None
        """The output that is being written, or at which the query failed."""

    def start(self, checkpoint: str, settings: RunSettings) -> StreamingQuery:
        self.writing = None
        self._told.clear()
        for output in self._outputs:
            self._open(output, checkpoint, settings)
        writer = self._rows.writeStream.foreachBatch(self._write)
        writer = writer.option("checkpointLocation", checkpoint)
        return triggered(writer, settings.trigger).start()

    def _open(self, output: str, checkpoint: str, settings: RunSettings) -> None:
        sink, frame = self._pipeline.outputs[output], self._frames[output]
        assert isinstance(sink, BatchSink)
        place = Checkpoint(frame.sparkSession, checkpoint, output)
        self._places[output] = place
        self._writes[output] = sink.open(
            frame, pipeline=self._pipeline.name, output=output, place=place, settings=settings
        )

    def close(self) -> None:
        """Spark may hold on to its way of calling us for longer."""
        self._writes.clear()

    def told(self, progress: Mapping[str, Any]) -> dict[str, Any]:
        """The report of a batch, with what its outputs counted among its metrics."""
        own = self._told.pop(int(progress["batchId"]), {})
        return {**progress, "observedMetrics": {**(progress.get("observedMetrics") or {}), **own}}

    def _write(self, batch: DataFrame, number: int) -> None:
        batch.persist()
        try:
            frames = self._make(batch)
            counts = {output: self._write_one(output, frames, number) for output in self._outputs}
        finally:
            batch.unpersist()
        self.writing = None
        rows = sum(each.get(JUDGED) or 0 for each in counts.values())
        told = {OUTPUT_METRIC + output: each for output, each in counts.items()}
        self._told[number] = {ROWS_METRIC: {"rows": rows}, **told}

    def _write_one(
        self, output: str, frames: Mapping[str, DataFrame], number: int
    ) -> dict[str, Any]:
        from pyspark.sql import Observation

        self.writing = output
        rules = self._pipeline.expect.get(output, ())
        metrics, observation = output_metrics(rules), Observation()
        rows = frames[output].observe(observation, *metrics)
        query_id = self._places[output].query_id() or ""
        self._writes[output](stopped_output(rows, rules, output=output), query_id, number)
        # A sink that left the batch out, or that Spark sees not into, has told nothing.
        return _observed(observation) or frames[output].agg(*metrics).collect()[0].asDict()


def _observed(observation: Any) -> dict[str, Any]:
    from py4j.protocol import Py4JJavaError

    if not observation._jo.future().isCompleted():
        return {}
    try:
        return dict(observation.get)
    except Py4JJavaError:
        return {}  # Spark saw that there is nothing to do, and left the counting out, too
