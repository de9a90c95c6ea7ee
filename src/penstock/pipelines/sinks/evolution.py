"""A table that exists, and rows whose columns are not quite its own: what may change, and what not.

A column that is new in the rows is added, and is null in older rows. A column that the rows no
longer have is left alone where the table can do without it. Everything else is refused before a row
is written, by the name of the column. How a table is asked and changed is each sink's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.pipelines.error import RunError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_WIDENING = (("tinyint", "smallint", "int", "bigint"), ("float", "double"))
"""Each of Spark's types holds every value of those before it."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    name: str
    type: str
    required: bool = False
    """No row can be there without it: it takes no null, and has no default."""


Holds = Callable[[str, str], bool]
"""Whether a column of the first type holds every value of the second."""


def spark_holds(have: str, new: str) -> bool:
    if have == new:
        return True
    for family in _WIDENING:
        if have in family and new in family:
            return family.index(have) > family.index(new)
    return False


def spark_columns(schema: StructType) -> list[TableColumn]:
    return [TableColumn(each.name, each.dataType.simpleString()) for each in schema]


def new_columns(
    table: str, have: Sequence[TableColumn], rows: Sequence[TableColumn], holds: Holds = spark_holds
) -> list[TableColumn]:
    """The columns to add to the table so that it takes the rows; RunError where nothing would."""
    by_name = {column.name: column for column in have}
    by_folded = {column.name.lower(): column.name for column in have}
    added = []
    for column in rows:
        known = by_name.get(column.name)
        if known is not None and not holds(known.type, column.type):
            raise RunError(
                f"table {table}: column {column.name} is {known.type} there and {column.type} in"
                " the rows: cast it, or give the new one another name"
            )
        if known is None:
            twin = by_folded.get(column.name.lower())
            if twin is not None:
                raise RunError(
                    f"table {table}: column {column.name} of the rows is {twin} there: name it so"
                )
            added.append(column)
    names = {column.name for column in rows}
    for column in have:
        if column.required and column.name not in names:
            raise RunError(
                f"table {table}: column {column.name} is required there, and the rows have only"
                f" {', '.join(column.name for column in rows)}"
            )
    return added


def require_same_key(table: str, have: Iterable[str] | None, key: Sequence[str]) -> None:
    """A table is kept by one key: with another, rows would be doubled or lost."""
    if have is not None and tuple(have) != tuple(key):
        kept = f"is kept by the key {', '.join(have)}" if have else "has no key"
        wanted = f"by {', '.join(key)}" if key else "without one"
        raise RunError(f"table {table} {kept}, and is to be written {wanted}: write another table")


def fitted(frame: DataFrame, have: Sequence[TableColumn]) -> DataFrame:
    """The same rows, with narrower numbers as wide as the table has them."""
    from pyspark.sql import functions as sql

    wide = {column.name: column.type for column in have}
    for column in spark_columns(frame.schema):
        if wide.get(column.name, column.type) != column.type:
            widened = sql.col(column.name).cast(wide[column.name])
            frame = frame.withColumn(column.name, widened)
    return frame
