"""The form of a dead letter: the record as it came, and headers that say where and why.

Everything that writes or reads dead letters takes the names from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.pipelines.retry import POISON

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

HEADER_PREFIX: Final = "penstock.dlq."
TOPIC: Final = "penstock.dlq.topic"
PARTITION: Final = "penstock.dlq.partition"
OFFSET: Final = "penstock.dlq.offset"
TIMESTAMP: Final = "penstock.dlq.timestamp"
"""Of the record, in milliseconds."""
ERROR: Final = "penstock.dlq.error"
MESSAGE: Final = "penstock.dlq.message"
ATTEMPT: Final = "penstock.dlq.attempt"
"""1-based: how many times this record has failed here, redrives included."""
PIPELINE: Final = "penstock.dlq.pipeline"
CLASS: Final = "penstock.dlq.class"
RULE: Final = "penstock.dlq.rule"
"""The expectation that it failed; only where it was one."""
REDRIVEN: Final = "penstock.dlq.redriven"
"""How many times it was sent back."""
HISTORY: Final = "penstock.dlq.history"
"""JSON list of earlier failures: error, message, attempt, time (ms)."""


OF_THIS_FAILURE: Final = (
    TOPIC, PARTITION, OFFSET, TIMESTAMP, ERROR, MESSAGE, ATTEMPT, PIPELINE, CLASS,
    RULE,
)  # fmt: skip
"""What a failure writes, replacing what an earlier one wrote; REDRIVEN and HISTORY stay."""


def dead_letter_topic(pipeline: str) -> str:
    return f"{pipeline}.dead-letters"


def late_topic(pipeline: str) -> str:
    return f"{pipeline}.late"


def dead_letters(rows: DataFrame, pipeline: str) -> DataFrame:
    """Of rows that a decoder was applied to, those that failed, as key, value and headers."""
    from pyspark.sql import functions as F

    from penstock.pipelines.transforms import decode, each

    failed = rows.where(F.col(decode.ERROR).isNotNull())
    kind, tries = F.lit(POISON), F.lit(1)
    if each.CLASS in rows.columns:
        kind = F.coalesce(F.col(each.CLASS), kind)
        tries = F.coalesce(F.col(each.TRIES), tries)
    said = {
        **origin_headers(),
        ERROR: F.col(decode.ERROR),
        MESSAGE: F.col(decode.MESSAGE),
        ATTEMPT: _sent_back() + tries,
        PIPELINE: F.lit(pipeline),
        CLASS: kind,
        RULE: F.col(each.RULE) if each.RULE in rows.columns else F.lit(None),
    }
    return failed.select("key", "value", with_headers(said).alias("headers"))


def origin_headers() -> dict[str, Column]:
    from pyspark.sql import functions as F

    return {
        TOPIC: F.col("topic"),
        PARTITION: F.col("partition"),
        OFFSET: F.col("offset"),
        TIMESTAMP: F.unix_millis("timestamp"),
    }


def with_headers(said: dict[str, Column]) -> Column:
    """The record's own headers, and these, as far as they are not null, instead of any of the
    same names."""
    from pyspark.sql import functions as F

    own = F.coalesce(F.col("headers"), F.array().cast("array<struct<key:string,value:binary>>"))
    kept = F.filter(own, lambda header: ~header["key"].isin(*said))
    added = [
        F.struct(F.lit(name).alias("key"), what.cast("string").cast("binary").alias("value"))
        for name, what in said.items()
    ]
    known = F.filter(F.array(*added), lambda header: header["value"].isNotNull())
    return F.concat(kept, known)


def _sent_back() -> Column:
    """How often; `penstock dlq redrive` has put the rest in the history."""
    from pyspark.sql import functions as F

    counts = F.filter("headers", lambda header: header["key"] == REDRIVEN)
    times = F.try_element_at(counts, F.lit(-1))["value"].cast("string")
    return F.coalesce(times.try_cast("int"), F.lit(0))
