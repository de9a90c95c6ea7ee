"""Dead letters as columns: rows that failed, as the records that go to the dead-letter topic.

The names of headers are those of `penstock.client.dead_letter`, for all who write or read letters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.client.dead_letter import (
    ATTEMPT,
    CLASS,
    ERROR,
    HEADER_PREFIX,
    HISTORY,
    MESSAGE,
    OF_THIS_FAILURE,
    OFFSET,
    PARTITION,
    PIPELINE,
    POISON,
    REDRIVEN,
    RULE,
    TIMESTAMP,
    TOPIC,
    TOPIC_SUFFIX,
    dead_letter_topic,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


__all__ = [
    "ATTEMPT",
    "CLASS",
    "ERROR",
    "HEADER_PREFIX",
    "HISTORY",
    "MESSAGE",
    "OFFSET",
    "OF_THIS_FAILURE",
    "PARTITION",
    "PIPELINE",
    "REDRIVEN",
    "RULE",
    "TIMESTAMP",
    "TOPIC",
    "TOPIC_SUFFIX",
    "dead_letter_topic",
    "dead_letters",
    "late_topic",
    "origin_headers",
    "with_headers",
]


def late_topic(pipeline: str) -> str:
    return f"{pipeline}.late"


def dead_letters(rows: DataFrame, pipeline: str) -> DataFrame:
    """Of rows that a decoder was applied to, those that failed, as key, value and headers."""
    from pyspark.sql import functions as F

    from penstock.pipelines.transforms import decoder, each

    failed = rows.where(F.col(decoder.ERROR).isNotNull())
    kind, tries = F.lit(POISON), F.lit(1)
    if each.CLASS in rows.columns:
        kind = F.coalesce(F.col(each.CLASS), kind)
        tries = F.coalesce(F.col(each.TRIES), tries)
    said = {
        **origin_headers(),
        ERROR: F.col(decoder.ERROR),
        MESSAGE: F.col(decoder.MESSAGE),
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
