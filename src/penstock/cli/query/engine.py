"""A question in SQL to the live cluster: DuckDB, its tables, and its errors in one line.

Tables are made for the names that a statement has: those of the catalog from what the cluster says
now, others as topics that are read while DuckDB asks for their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

import duckdb

from penstock.cli.catalog.declaration import TABLES, CatalogTable, Rows
from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.interrupt import check_interrupt
from penstock.cli.leader_call import read_metadata
from penstock.cli.operator.link import Link
from penstock.cli.query.statement import parse, renamed, table_names
from penstock.cli.query.topic import TopicTable

_ROWS: Final = 1000
_SETTINGS: Final = (
    "SET TimeZone = 'UTC'",
    # A statement reads the cluster, and neither files nor variables of ours.
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
)
_TYPES: Final = {
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "real": "DOUBLE",
    "boolean": "BOOLEAN",
    "text": "VARCHAR",
}
_NO_JSON: Final = "Malformed JSON"
CATALOG: Final = {each.name.lower(): each for each in TABLES}


class Answer(NamedTuple):
    columns: list[str]
    rows: Iterator[list[tuple[Any, ...]]]
    """In parts, as they come."""


class SqlEngine:
    def __init__(self, cluster: Cluster, late_ms: int) -> None:
        self._link = Link(cluster)
        self._late_ms = late_ms
        self._connection = duckdb.connect()
        for each in _SETTINGS:
            self._connection.execute(each)
        self.topics: dict[str, TopicTable] = {}

    def __enter__(self) -> SqlEngine:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.topics.values():
            each.close()
        self._connection.close()

    def ask(self, statement: str) -> Answer:
        parsed = parse(self._connection, statement)
        if parsed.lists_tables:
            names = [*(each.name for each in TABLES), *sorted(self._there())]
            return Answer(["name"], iter([[(name,) for name in names]]))
        others = self._make(parsed.names)
        if others:
            statement = renamed(self._connection, parsed, others)
        try:
            result = self._connection.execute(statement)
        except duckdb.Error as error:
            raise self._failure(error) from error
        columns = [each[0] for each in result.description or ()]
        return Answer(columns, self._rows(result))

    def _rows(self, result: Any) -> Iterator[list[tuple[Any, ...]]]:
        while True:
            check_interrupt()
            try:
                part = result.fetchmany(_ROWS)
            except duckdb.Error as error:
                raise self._failure(error) from error
            if not part:
                return
            yield part

    def _make(self, names: list[str]) -> dict[str, str]:
        """What tables are called that cannot have their topic's name."""
        catalog = [CATALOG[name.lower()] for name in names if name.lower() in CATALOG]
        if catalog:
            from penstock.cli.query.live import read_live

            for table, rows in read_live(self._link, catalog).items():
                self._load(table, rows)
        topics = [name for name in names if name.lower() not in CATALOG]
        if topics:
            self._check(topics)
        names_here = table_names(topics)
        for topic, name in names_here.items():
            self.topics[topic] = TopicTable(self._link, topic, self._late_ms)
            self._connection.register(name, self.topics[topic])
        return {topic: name for topic, name in names_here.items() if topic != name}

    def _check(self, topics: list[str]) -> None:
        there = self._there()
        for name in topics:
            if name not in there:
                near = get_close_matches(name, [*there, *(each.name for each in TABLES)], n=1)
                hint = f"did you mean {near[0]}?" if near else "see `penstock topics list`"
                raise UsageFailure(f"SQL: there is no table or topic {name}; {hint}")

    def _there(self) -> list[str]:
        return [each.name or "" for each in read_metadata(self._link).topics]

    def _load(self, table: CatalogTable, rows: Rows) -> None:
        columns = [(each.name, _TYPES[each.type]) for each in table.columns]
        if table.has_id:
            columns.insert(0, ("id", "INTEGER"))
        said = ", ".join(f'"{name}" {kind}' for name, kind in columns)
        self._connection.execute(f'CREATE TABLE "{table.name}" ({said})')
        values = [
            (index, *row) if table.has_id else row
            for index, row in enumerate(sorted(rows.values(), key=str), 1)
        ]
        if values:
            import pyarrow as pa

            parts = zip(*values, strict=True)
            arrow = pa.table(
                [pa.array(list(each)) for each in parts], names=[c[0] for c in columns]
            )
            self._connection.register("rows_of_catalog", arrow)
            self._connection.execute(f'INSERT INTO "{table.name}" SELECT * FROM rows_of_catalog')
            self._connection.unregister("rows_of_catalog")

    def _failure(self, error: duckdb.Error) -> Failure:
        """What went wrong while a topic was read is said as it was."""
        for topic in self.topics.values():
            if isinstance(topic.error, Failure):
                return topic.error
            if isinstance(topic.error, KeyboardInterrupt):
                raise KeyboardInterrupt
        with suppress(ValueError):
            check_interrupt()
        said = str(error).split("\n\n")[0].split("\nLINE")[0]
        if _NO_JSON in said:
            said += "; add WHERE json_valid(value), or write try(value->>'$.field')"
        kind = UsageFailure if isinstance(error, duckdb.ProgrammingError) else Failure
        return kind(f"SQL: {said}")
