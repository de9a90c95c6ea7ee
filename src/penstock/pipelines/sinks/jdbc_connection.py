"""A connection to any database with a JDBC driver, in the driver's JVM: statements and metadata.

There is no public way from Python to a JDBC connection, so this goes through Spark's `_jvm`: it
needs a session whose driver is this process, not Spark Connect. Rows never pass here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from penstock.pipelines.error import SetupError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NO_NULLS = "NO"
_SHORTEST, _LONGEST = 1, 2_000


@dataclass(frozen=True, slots=True)
class DatabaseColumn:
    name: str
    required: bool
    size: int


class Connection:
    """Open within `connected`; commits each statement by itself, except inside of `transaction`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._metadata = connection.getMetaData()

    def execute(self, statement: str, *values: str | int) -> int:
        """How many rows it changed."""
        prepared = self._connection.prepareStatement(statement)
        try:
            for place, value in enumerate(values, 1):
                if isinstance(value, int):
                    prepared.setLong(place, value)
                else:
                    prepared.setString(place, value)
            return int(prepared.executeUpdate())
        finally:
            prepared.close()

    def number(self, statement: str, *values: str) -> int | None:
        """The first number of the first row; None without one."""
        prepared = self._connection.prepareStatement(statement)
        try:
            for place, value in enumerate(values, 1):
                prepared.setString(place, value)
            found = prepared.executeQuery()
            return int(found.getLong(1)) if found.next() else None
        finally:
            prepared.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._connection.setAutoCommit(False)
        try:
            yield
            self._connection.commit()
        except BaseException:
            self._connection.rollback()
            raise
        finally:
            self._connection.setAutoCommit(True)

    def quoted(self, name: str) -> str:
        mark = str(self._metadata.getIdentifierQuoteString()).strip()
        return f"{mark}{name.replace(mark, mark * 2)}{mark}" if mark else name

    def columns(self, table: str) -> list[DatabaseColumn]:
        """Of a table that is there; nothing if it is not."""
        for schema, name in self._spellings(table):
            catalog = self._connection.getCatalog()
            found = self._rows(self._metadata.getColumns(catalog, schema, name, None), _column)
            if found:
                return found
        return []

    def keys(self, table: str) -> list[tuple[str, ...]]:
        """By what its rows are told apart: the primary key, and unique indexes."""
        catalog = self._connection.getCatalog()
        for schema, name in self._spellings(table):
            primary = self._rows(self._metadata.getPrimaryKeys(catalog, schema, name), _key_part)
            listed = self._metadata.getIndexInfo(catalog, schema, name, True, True)
            parts = primary + self._rows(listed, _index_part)
            by_index: dict[str, list[str]] = {}
            for index, column in parts:
                by_index.setdefault(index, []).append(column)
            if by_index:
                return list(dict.fromkeys(tuple(sorted(each)) for each in by_index.values()))
        return []

    def tables(self, prefix: str) -> list[str]:
        """Names that begin so, whatever the database makes of upper and lower case."""
        catalog, schema = self._connection.getCatalog(), self._connection.getSchema()
        listed = self._metadata.getTables(catalog, schema, None, None)
        names: list[str] = self._rows(listed, lambda row: str(row.getString("TABLE_NAME")))
        return [each for each in names if each.lower().startswith(prefix)]

    def _spellings(self, table: str) -> list[tuple[str | None, str]]:
        """Unquoted names are kept in upper case by some databases and in lower case by others."""
        schema, _, name = table.rpartition(".")
        if not schema:
            own = self._connection.getSchema()
            return [(own, each) for each in (name, name.upper(), name.lower())]
        return [
            (schema, name),
            (schema.upper(), name.upper()),
            (schema.lower(), name.lower()),
        ]

    def _rows(self, found: Any, take: Any) -> list[Any]:
        rows = []
        try:
            while found.next():
                taken = take(found)
                if taken is not None:
                    rows.append(taken)
        finally:
            found.close()
        return rows


@contextmanager
def connected(
    spark: SparkSession, url: str, driver: str | None, properties: Mapping[str, str]
) -> Iterator[Connection]:
    jvm = cast(Any, spark)._jvm
    given = jvm.java.util.Properties()
    for key, value in properties.items():
        given.setProperty(key, value)
    try:
        if driver is not None:
            # As Spark does: it finds drivers among the jars that it was given.
            registry = jvm.org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry
            registry.register(driver)
        opened = jvm.java.sql.DriverManager.getConnection(url, given)
    except Exception as error:
        said = str(getattr(error, "java_exception", error)).strip().partition("\n")[0]
        scheme = ":".join(url.split(":")[:2])
        raise SetupError(
            f"no connection to {scheme}:… ({said}): is the driver's jar in spark.jars, and"
            " its class given as driver=?"
        ) from error
    try:
        yield Connection(opened)
    finally:
        opened.close()


def add_column(
    spark: SparkSession, url: str, table: str, name: str, kind: str, given: str | None
) -> str:
    """The statement for it in this database; `kind` is Spark's type, `given` the database's own."""
    dialect = cast(Any, spark)._jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(url)
    return str(dialect.getAddColumnQuery(table, name, given or database_type(spark, url, kind)))


def database_type(spark: SparkSession, url: str, kind: str) -> str | None:
    """What Spark's type is in this database; None where it has none for it."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    jvm = cast(Any, spark)._jvm
    dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(url)
    utils = jvm.org.apache.spark.sql.execution.datasources.jdbc.JdbcUtils
    parsed = jvm.org.apache.spark.sql.types.DataType.fromDDL(kind)
    try:
        return str(utils.getJdbcType(parsed, dialect).databaseTypeDefinition())
    except (Py4JJavaError, PySparkException):
        return None


def _column(row: Any) -> DatabaseColumn:
    generated = str(row.getString("IS_AUTOINCREMENT")) == "YES"
    free = row.getString("COLUMN_DEF") is not None or generated
    required = str(row.getString("IS_NULLABLE")) == _NO_NULLS and not free
    size = int(row.getInt("COLUMN_SIZE"))
    return DatabaseColumn(str(row.getString("COLUMN_NAME")), required, _bounded(size))


def _bounded(size: int) -> int:
    return min(max(size, _SHORTEST), _LONGEST)


def _key_part(row: Any) -> tuple[str, str]:
    return "", str(row.getString("COLUMN_NAME"))


def _index_part(row: Any) -> tuple[str, str] | None:
    """Statistics come among the indexes, without a name."""
    index, column = row.getString("INDEX_NAME"), row.getString("COLUMN_NAME")
    return None if index is None or column is None else (str(index), str(column))
