"""A table that exists, and rows whose columns are not quite its own: what may change, and what not.

A column that is new in the rows is added, and is null in older rows. A column that the rows no
longer have is left alone where the table can do without it. The same holds for the fields of
structs. Everything else is refused before a row is written, by the name of the column. How a table
is asked and changed is each sink's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.pipelines.error import RunError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructField, StructType

_WIDENING = (("tinyint", "smallint", "int", "bigint"), ("float", "double"))
"""Each of Spark's types holds every value of those before it."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    name: str
    type: str
    required: bool = False
    """No row can be there without it: it takes no null, and has no default."""
    fields: tuple[TableColumn, ...] = ()
    """Of a struct; no other type has them."""
    within: tuple[str, ...] = ()
    """The structs that a field stands in, from the outside."""

    @property
    def path(self) -> tuple[str, ...]:
        return (*self.within, self.name)


Holds = Callable[[str, str], bool]
"""Whether a column of the first type holds every value of the second."""


def spark_holds(have: str, new: str) -> bool:
    if have == new:
        return True
    for family in _WIDENING:
        if have in family and new in family:
            return family.index(have) > family.index(new)
    return False


def spark_columns(schema: StructType, within: tuple[str, ...] = ()) -> list[TableColumn]:
    return [_spark_column(each, within) for each in schema]


def _spark_column(field: StructField, within: tuple[str, ...]) -> TableColumn:
    from pyspark.sql.types import StructType

    kind, fields = field.dataType, []
    if isinstance(kind, StructType):
        fields = spark_columns(kind, (*within, field.name))
    return TableColumn(field.name, kind.simpleString(), fields=tuple(fields), within=within)


def new_columns(
    table: str, have: Sequence[TableColumn], rows: Sequence[TableColumn], holds: Holds = spark_holds
) -> list[TableColumn]:
    """The columns to add to the table so that it takes the rows; RunError where nothing would."""
    by_name = {column.name: column for column in have}
    by_folded = {column.name.lower(): column.name for column in have}
    added: list[TableColumn] = []
    for column in rows:
        known, said = by_name.get(column.name), ".".join(column.path)
        if known is None:
            twin = by_folded.get(column.name.lower())
            if twin is not None:
                raise RunError(
                    f"table {table}: column {said} of the rows is {twin} there: name it so"
                )
            added.append(column)
        elif known.fields and column.fields:
            added += new_columns(table, known.fields, column.fields, holds)
        elif not holds(known.type, column.type):
            raise RunError(
                f"table {table}: column {said} is {known.type} there and {column.type} in"
                " the rows: cast it, or give the new one another name"
            )
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
    """The same rows, with narrower numbers as wide as the table has them, and all its fields."""
    from pyspark.sql import functions as sql

    there = {column.name: column for column in have}
    for column in spark_columns(frame.schema):
        known = there.get(column.name, column)
        if known.type != column.type:
            frame = frame.withColumn(column.name, _as_there(sql.col(column.name), column, known))
    return frame


def _as_there(value: Column, column: TableColumn, known: TableColumn) -> Column:
    from pyspark.sql import functions as sql

    if known.type == column.type:
        return value
    if not known.fields:
        return value.cast(known.type)
    given = {each.name: each for each in column.fields}
    fields = [
        _as_there(value.getField(each.name), given[each.name], each)
        if each.name in given
        else sql.lit(None).cast(each.type)
        for each in known.fields
    ]
    named = [field.alias(each.name) for field, each in zip(fields, known.fields, strict=True)]
    return sql.when(value.isNotNull(), sql.struct(*named))


def widened(have: StructType, rows: StructType) -> StructType:
    """The table's columns and, behind them, those that are new in the rows; so in structs."""
    from pyspark.sql.types import StructField, StructType

    given = {each.name: each.dataType for each in rows}
    fields = []
    for each in have:
        kind, new = each.dataType, given.pop(each.name, None)
        if isinstance(kind, StructType) and isinstance(new, StructType):
            kind = widened(kind, new)
        fields.append(StructField(each.name, kind, each.nullable))
    return StructType([*fields, *(StructField(name, kind) for name, kind in given.items())])
