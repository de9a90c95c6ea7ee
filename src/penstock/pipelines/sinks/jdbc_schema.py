"""The columns of a JDBC table beside those of the rows: made, added, or refused by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.pipelines.error import RunError
from penstock.pipelines.sinks.evolution import (
    TableColumn,
    new_columns,
    spark_columns,
    spark_holds,
)
from penstock.pipelines.sinks.jdbc_connection import (
    Connection,
    DatabaseColumn,
    add_column,
    database_type,
)
from penstock.pipelines.sinks.upsert import stored

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_KEY_TYPE = "VARCHAR(255)"
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TIMES = ("timestamp", "timestamp_ntz")


@dataclass(frozen=True, slots=True)
class JdbcSchema:
    """One table, asked and changed over an open connection."""

    connection: Connection
    spark: SparkSession
    table: str
    key: tuple[str, ...]
    options: Mapping[str, str]
    """Of Spark's JDBC source and sink."""
    types: Mapping[str, str]
    """What columns are made of where it is not left to Spark."""

    def evolve(self, rows: StructType) -> tuple[dict[str, str], dict[str, str]]:
        """Rows' columns as the table spells them, and the types that a stage must give to some."""
        wanted = stored(rows)
        self._require_types(wanted)
        if not self.connection.columns(self.table):
            self._create(wanted)
        found = self.connection.columns(self.table)
        names = _spelled(found, wanted)
        kinds = dict(self.spark.read.format("jdbc").options(**self.options).load().dtypes)
        have = [TableColumn(each.name, kinds[each.name], each.required) for each in found]
        asked = [TableColumn(names[each.name], each.type) for each in spark_columns(wanted)]
        self._require_key([names[each] for each in self.key])
        for column in new_columns(self.table, have, asked, jdbc_holds):
            given = self.types.get(column.name)
            url = self.options["url"]
            statement = add_column(self.spark, url, self.table, column.name, column.type, given)
            self.connection.execute(statement)
        sizes = {each.name: each.size for each in found}
        text = [names[each] for each in self._text_keys(wanted)]
        return names, {each: f"VARCHAR({sizes[each]})" for each in text}

    def _require_types(self, rows: StructType) -> None:
        """Before anything is changed: of several new columns one may be none for this database."""
        for column in spark_columns(rows):
            if column.name in self.types:
                continue
            if database_type(self.spark, self.options["url"], column.type) is None:
                raise RunError(
                    f"table {self.table}: column {column.name} is {column.type} in the rows, and"
                    " the database has no type for that: flatten it, or use to_json"
                )

    def _create(self, rows: StructType) -> None:
        from pyspark.sql.types import StructField, StructType

        fields = [StructField(each.name, each.dataType, each.name not in self.key) for each in rows]
        # Databases do not index text without a length.
        types = dict.fromkeys(self._text_keys(rows), _KEY_TYPE) | dict(self.types)
        own = {**self.options, **column_types(types)}
        empty = self.spark.createDataFrame([], StructType(fields))
        empty.write.format("jdbc").options(**own).mode("append").save()
        if self.key:
            keys = ", ".join(map(self.connection.quoted, self.key))
            self.connection.execute(f"alter table {self.table} add primary key ({keys})")

    def _text_keys(self, rows: StructType) -> list[str]:
        return [each for each in self.key if rows[each].dataType.simpleString() == "string"]

    def _require_key(self, key: Sequence[str]) -> None:
        found = self.connection.keys(self.table)
        if key and found and tuple(sorted(key)) not in found:
            kept = " or ".join(f"({', '.join(each)})" for each in found)
            raise RunError(
                f"table {self.table}: its rows are told apart by {kept}, and the output's key is"
                f" ({', '.join(key)}): write another table"
            )


def column_types(types: Mapping[str, str]) -> dict[str, str]:
    """An option of Spark's JDBC writer, which takes no empty one."""
    listed = ", ".join(f"`{name}` {kind}" for name, kind in types.items())
    return {"createTableColumnTypes": listed} if listed else {}


def jdbc_holds(have: str, new: str) -> bool:
    if spark_holds(have, new) or (have in _TIMES and new in _TIMES):
        return True
    mine, theirs = _DECIMAL.fullmatch(new), _DECIMAL.fullmatch(have)
    if not mine or not theirs:
        return False
    whole, theirs_whole = (int(each[1]) - int(each[2]) for each in (mine, theirs))
    return theirs_whole >= whole and int(theirs[2]) >= int(mine[2])


def _spelled(found: Sequence[DatabaseColumn], rows: StructType) -> dict[str, str]:
    """A name that was made without quotes is in upper case in some databases."""
    exact = {each.name for each in found}
    folded = {each.name.lower(): each.name for each in found}
    return {
        each: each if each in exact else folded.get(each.lower(), each)
        for each in rows.fieldNames()
    }
