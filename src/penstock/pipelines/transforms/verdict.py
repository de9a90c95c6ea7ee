"""From a decoded record and what may be wrong with it to the three columns of `decode`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from penstock.pipelines.transforms.decoder import ERROR, MESSAGE, RECORD

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from penstock.pipelines.transforms.decoder import Tombstones


class Fault(NamedTuple):
    when: Column
    error: str
    message: str


def with_verdict(
    rows: DataFrame, record: Column, faults: Sequence[Fault], tombstones: Tombstones
) -> DataFrame:
    """The first fault that holds is reported. `record` may be anything for a null value."""
    from pyspark.sql import functions as F

    value = F.col("value")
    found = [each._replace(when=value.isNotNull() & each.when) for each in faults]
    if tombstones == "dead-letter":
        found.insert(0, Fault(value.isNull(), "Tombstone", "the record has no value"))
    fault = F.lit(None).cast("struct<error:string,message:string>")
    for each in reversed(found):
        told = F.struct(F.lit(each.error).alias("error"), F.lit(each.message).alias("message"))
        fault = F.when(each.when, told).otherwise(fault)
    marked = rows.withColumn("_fault", fault)
    good = value.isNotNull() & F.col("_fault").isNull()
    return marked.select(
        *rows.columns,
        F.when(good, record).alias(RECORD),
        F.col("_fault.error").alias(ERROR),
        F.col("_fault.message").alias(MESSAGE),
    )
