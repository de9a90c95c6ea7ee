"""Upserts into an Iceberg table: which of its files a batch touches, and what they become.

Copy on write: a file that holds a key of the batch is read by Spark, without those rows, and
written anew together with the batch's own. Which files may hold such keys is told by their
statistics. Nothing here commits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import RunError
from penstock.pipelines.sinks.upsert import DELETED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_FILE = "_file"


def merged_rows(
    table: Any, schema: StructType, last: DataFrame, key: Sequence[str]
) -> tuple[DataFrame, list[Any]]:
    """The rows to write, and the data files of the table that they replace.

    `last` has one row for each key, with `_deleted`, and is to stay the same while it is read here.
    """
    files = _files_in_range(table, last, key)
    new = last.where(f"not {DELETED}").drop(DELETED)
    keys = last.select(*key)
    stored = _stored(last, files, schema)
    touched = stored.join(keys, list(key), "left_semi").select(_FILE).distinct().collect()
    names = sorted(row[0] for row in touched)
    old = stored.where(stored[_FILE].isin(names)).drop(_FILE)
    absent = [each.name for each in schema if each.name not in new.columns]
    if absent:
        # What the rows no longer say stays as it was.
        new = new.join(old.select(*key, *absent), list(key), "left")
    kept = old.join(keys, list(key), "left_anti")
    made = kept.unionByName(new) if names else new
    return made, [each for name in names for each in files[name]]


def _files_in_range(table: Any, last: DataFrame, key: Sequence[str]) -> dict[str, list[Any]]:
    """Data files by the last part of their names; those that cannot hold a key are left out."""
    found: dict[str, list[Any]] = defaultdict(list)
    for task in table.scan(row_filter=_range(last, key[0])).plan_files():
        if task.delete_files:
            raise RunError(
                f"table {'.'.join(table.name())} has delete files of another program, which this"
                " sink does not read: compact the table first"
            )
        found[task.file.file_path.rpartition("/")[2]].append(task.file)
    return found


def _range(last: DataFrame, name: str) -> Any:
    from pyiceberg.expressions import (
        AlwaysTrue,
        And,
        GreaterThanOrEqual,
        LessThanOrEqual,
        Reference,
    )
    from pyspark.sql import functions as sql

    ends = last.select(sql.min(name), sql.max(name)).first()
    if ends is None or type(ends[0]) not in (str, int):
        return AlwaysTrue()
    least, most = ends
    term = Reference(name)
    return And(GreaterThanOrEqual(term=term, value=least), LessThanOrEqual(term=term, value=most))


def _stored(last: DataFrame, files: dict[str, list[Any]], schema: StructType) -> DataFrame:
    """The rows of these files, with the name of the file."""
    from pyspark.sql import functions as sql

    spark = last.sparkSession
    if not files:
        return spark.createDataFrame([], schema).withColumn(_FILE, sql.lit(""))
    paths = [for_spark(each.file_path) for same in files.values() for each in same]
    rows = spark.read.schema(schema).parquet(*paths)
    return rows.withColumn(_FILE, sql.col("_metadata.file_name"))


def for_spark(location: str) -> str:
    """Iceberg says s3://, and Hadoop's file system for it is named s3a."""
    return "s3a" + location.removeprefix("s3") if location.startswith("s3://") else location
