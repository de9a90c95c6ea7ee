"""What sinks of whole batches share: batches handed over with the name of their checkpoint.

How a batch becomes part of a table, once, is each sink's own business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.sinks.checkpoint import Checkpoint
from penstock.pipelines.sinks.contract import OutputMode, Trigger, Write, counted, triggered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.run_settings import RunSettings

TARGET_FILE_BYTES = 256 << 20
"""Files of this size are left alone by compaction, and it makes none that are larger."""


class BatchedSink:
    """A sink whose query hands over batch by batch, in the driver."""

    __slots__ = ()

    def open(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        place: Checkpoint,
        settings: RunSettings,
    ) -> Write:
        raise NotImplementedError

    def start(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        checkpoint: str,
        settings: RunSettings,
        trigger: Trigger,
    ) -> StreamingQuery:
        place = Checkpoint(frame.sparkSession, checkpoint)
        write = self.open(frame, pipeline=pipeline, output=output, place=place, settings=settings)

        def write_one(batch: DataFrame, number: int) -> None:
            write(batch, place.query_id() or "", number)

        mode: OutputMode = getattr(self, "mode", "append")
        writer = counted(frame).writeStream.foreachBatch(write_one).outputMode(mode)
        return triggered(writer.option("checkpointLocation", checkpoint), trigger).start()


def require_append(table: str, key: Sequence[str], order: str | None, mode: OutputMode) -> None:
    """Without a key there is nothing that a row could replace."""
    if not key and (order is not None or mode != "append"):
        raise DeclarationError(
            f"{table}: rows are only appended without a key: name the columns that tell them"
            " apart (key=)"
        )


def require_checkpoint_at(place: Checkpoint, output: str, written: Callable[[str], int]) -> None:
    """A checkpoint put back from a copy plans other batches under numbers already written.

    `written` says the last batch of a query id that is in the table, or -1.
    """
    query_id = place.query_id()
    if query_id is not None and written(query_id) > place.last_batch():
        raise RunError(
            f"output {output}: the checkpoint is older than what was written (batch"
            f" {place.last_batch()} there, batch {written(query_id)} in the table): start from an"
            " empty checkpoint directory and the offsets of your choice"
        )
