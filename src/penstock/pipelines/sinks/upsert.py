"""Rows that replace those of the same key, and rows that delete them: what it means in every sink.

A row whose column `_deleted` is true deletes the row of its key; the column itself is not stored.
Of several rows of one key in a batch the last one counts: by the column that `order` names, and
within that (or without it) in the order in which they came, which for one key of a topic is that of
its offsets. A later batch is always later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.pipelines.error import DeclarationError, RunError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

DELETED = "_deleted"
NULL_KEY = "the key column {} is null in a row"
_PLACE, _ROW = "_place", "_row"


def as_key(key: str | Sequence[str] | None) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else tuple(key or ())


def require_rows(
    frame: DataFrame, output: str, table: str, key: Sequence[str], order: str | None
) -> None:
    """What the declaration names must be in the rows, and `_deleted` must mean something."""
    kinds = dict(frame.dtypes)
    missing = [name for name in (*key, *([order] if order else ())) if name not in kinds]
    if missing:
        wanted = f"the key of {table} is {', '.join(key)}" + (f", order {order}" if order else "")
        raise DeclarationError(
            f"output {output}: {wanted}, and the rows have {', '.join(frame.columns)}"
        )
    if DELETED in kinds and (not key or kinds[DELETED] != "boolean"):
        why = f"is {kinds[DELETED]}, not boolean" if key else "means nothing without a key"
        raise DeclarationError(f"output {output}: the column {DELETED} {why}")


def stored(schema: StructType) -> StructType:
    """The columns that a table has, all of them nullable: what Spark infers is no promise."""
    from pyspark.sql.types import StructField, StructType

    kept = (each for each in schema if each.name != DELETED)
    return StructType([StructField(each.name, each.dataType, True) for each in kept])


def last_of_key(batch: DataFrame, key: Sequence[str], order: str | None) -> DataFrame:
    """One row for each key, with `_deleted` true or false; a null in a key fails the batch."""
    from pyspark.sql import functions as sql

    if DELETED not in batch.columns:
        batch = batch.withColumn(DELETED, sql.lit(False))
    batch = batch.withColumn(DELETED, sql.coalesce(DELETED, sql.lit(False)))
    for name in key:
        fail = sql.raise_error(sql.lit(NULL_KEY.format(name)))
        whole = sql.when(sql.col(name).isNull(), fail).otherwise(sql.col(name))
        batch = batch.withColumn(name, whole.cast(batch.schema[name].dataType))
    place = [sql.col(order)] if order else []
    placed = batch.withColumn(_PLACE, sql.struct(*place, sql.monotonically_increasing_id()))
    row = sql.struct(*batch.columns)
    last = placed.groupBy(*key).agg(sql.max_by(row, _PLACE).alias(_ROW))
    return last.select(f"{_ROW}.*")


def last_rows(rows: pa.Table, key: Sequence[str], order: str | None) -> pa.Table:
    """The same of a batch that is here already."""
    if not rows.num_rows:
        return rows
    for name in key:
        # SQLite takes nulls in a primary key, each as another row.
        if rows.column(name).null_count:
            raise RunError(NULL_KEY.format(name))
    if order is not None:
        values = rows.column(order).to_pylist()
        # Nulls first, as Spark has them.
        places = sorted(range(len(values)), key=lambda at: (values[at] is not None, values[at]))
        rows = rows.take(places)
    keys = zip(*(rows.column(name).to_pylist() for name in key), strict=True)
    return rows.take(sorted({each: place for place, each in enumerate(keys)}.values()))


def parted(rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """What to write, without `_deleted`, and what to delete."""
    if DELETED not in rows.column_names:
        return rows, rows.slice(0, 0)
    import pyarrow.compute as pc

    gone = pc.fill_null(rows.column(DELETED), False)
    bare = rows.drop_columns([DELETED])
    return bare.filter(pc.invert(gone)), bare.filter(gone)
