"""What the table formats share: batches handed over with the name of their checkpoint.

How a batch becomes part of a table, once, is each format's own business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.sinks.checkpoint import Checkpoint
from penstock.pipelines.sinks.contract import OutputMode, Trigger, counted, triggered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

TARGET_FILE_BYTES = 256 << 20
"""Files of this size are left alone by compaction, and it makes none that are larger."""

Write = Callable[["DataFrame", str, int], None]
"""Of a batch, the query id of its checkpoint, and its number there."""


def start_batches(
    frame: DataFrame,
    checkpoint: str,
    trigger: Trigger,
    write: Write,
    mode: OutputMode = "append",
) -> StreamingQuery:
    place = Checkpoint(frame.sparkSession, checkpoint)

    def write_one(batch: DataFrame, number: int) -> None:
        write(batch, place.query_id() or "", number)

    writer = counted(frame).writeStream.foreachBatch(write_one).outputMode(mode)
    return triggered(writer.option("checkpointLocation", checkpoint), trigger).start()


def require_append(table: str, key: Sequence[str], order: str | None, mode: OutputMode) -> None:
    """Without a key there is nothing that a row could replace."""
    if not key and (order is not None or mode != "append"):
        raise DeclarationError(
            f"{table}: rows are only appended without a key: name the columns that tell them"
            " apart (key=)"
        )


def require_checkpoint_at(
    frame: DataFrame, checkpoint: str, output: str, written: Callable[[str], int]
) -> None:
    """A checkpoint put back from a copy plans other batches under numbers already written.

    `written` says the last batch of a query id that is in the table, or -1.
    """
    place = Checkpoint(frame.sparkSession, checkpoint)
    query_id = place.query_id()
    if query_id is not None and written(query_id) > place.last_batch():
        raise RunError(
            f"output {output}: the checkpoint is older than what was written (batch"
            f" {place.last_batch()} there, batch {written(query_id)} in the table): start from an"
            " empty checkpoint directory and the offsets of your choice"
        )
