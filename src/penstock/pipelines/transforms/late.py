"""Late rows: those behind the watermark when their batch began, as records to keep.

Spark's stateful operators may leave such rows out without a word. What they leave out is always
among the rows chosen here; a row may also be here and yet have been counted, where its window was
still open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.pipelines.transforms.dead_letter import PIPELINE, origin_headers, with_headers
from penstock.pipelines.transforms.decoder import RECORD

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EVENT_TIME: Final = "penstock.late.event-time"
"""In milliseconds, as is the next."""
WATERMARK: Final = "penstock.late.watermark"
OUTPUT: Final = "penstock.late.output"
"""The output whose query was ahead of the row; each has a watermark of its own."""


def event_time_of(column: str) -> Column:
    """The event time of a row that a decoder was applied to."""
    from pyspark.sql import functions as F

    if column.startswith("_"):
        return F.col(column.removeprefix("_"))
    return F.col(RECORD).getField(column)


def late_rows(
    rows: DataFrame, column: str, watermark_ms: int, *, pipeline: str, output: str
) -> DataFrame:
    """Of rows that a decoder was applied to, those that came late: key, value and headers."""
    from pyspark.sql import functions as F

    happened = F.unix_millis(event_time_of(column))
    said = {
        **origin_headers(),
        PIPELINE: F.lit(pipeline),
        EVENT_TIME: happened,
        WATERMARK: F.lit(watermark_ms),
        OUTPUT: F.lit(output),
    }
    behind = rows.where(F.col(RECORD).isNotNull() & (happened < watermark_ms))
    return behind.select("key", "value", with_headers(said).alias("headers"))
