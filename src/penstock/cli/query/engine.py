"""A question in SQL to the live cluster: DuckDB, its tables, and its errors in one line.

Tables are made for the names that a statement has: those of the catalog from what the cluster says
now, others as topics that are read while DuckDB asks for their rows. A topic that is called like a
table is meant where it is named with the schema of topics.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.cli.catalog.declaration import TABLES, CatalogTable, Rows
from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.interrupt import check_interrupt
from penstock.cli.query.duck import duckdb
from penstock.cli.query.statement import TOPICS, Parsed, parse, renamed, table_names

if TYPE_CHECKING:
    from penstock.cli.operator.link import Link
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
        self._cluster = cluster
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

    @cached_property
    def _link(self) -> Link:
        # A statement that names no table is answered without the protocol.
        from penstock.cli.operator.link import Link

        return Link(self._cluster)

    def ask(self, statement: str) -> Answer:
        parsed = parse(self._connection, statement)
        if parsed.lists_tables:
            topics = (_unambiguous(each) for each in sorted(self._there()))
            names = [*(each.name for each in TABLES), *topics]
            return Answer(["name"], iter([[(name,) for name in names]]))
        topics_here = self._make(parsed)
        if parsed.topics or any(topic != name for topic, name in topics_here.items()):
            statement = renamed(self._connection, parsed, topics_here, CATALOG)
        try:
            result = self._connection.execute(statement)
        except duckdb.BinderException as error:
            raise self._failure(error, self._shadowed(parsed.names)) from error
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

    def _make(self, parsed: Parsed) -> dict[str, str]:
        """What the table of each topic is called."""
        names = parsed.names
        catalog = [CATALOG[name.lower()] for name in names if name.lower() in CATALOG]
        if catalog:
            from penstock.cli.query.live import read_live

            for table, rows in read_live(self._link, catalog).items():
                self._load(table, rows)
        plain = [name for name in names if name.lower() not in CATALOG]
        topics = dict.fromkeys([*plain, *parsed.topics])
        if topics:
            self._check(plain, parsed.topics)
        names_here = table_names(topics, CATALOG)
        for topic, name in names_here.items():
            self._open(topic, name)
        return names_here

    def _open(self, topic: str, name: str) -> None:
        # Arrow's datasets take longer to import than most questions to answer.
        from penstock.cli.query.duck import load_scans
        from penstock.cli.query.topic import TopicTable

        load_scans()
        self.topics[topic] = TopicTable(self._link, topic, self._late_ms)
        self._connection.register(name, self.topics[topic])

    def _shadowed(self, names: list[str]) -> str:
        """What to write for topics that are called like the tables of a statement."""
        there = set(self._there()).intersection(names)
        said = [_unambiguous(name) for name in names if name in there and name.lower() in CATALOG]
        return f"; to read the topic of that name write {said[0]}" if said else ""

    def _check(self, names: list[str], topics: list[str]) -> None:
        there = self._there()
        for name in topics:
            if name not in there:
                dotted = f"{TOPICS}.{name}"
                near = [f'"{dotted}"'] if dotted in there else get_close_matches(name, there, n=1)
                hint = f"did you mean {near[0]}?" if near else "see `penstock topics list`"
                raise UsageFailure(f"SQL: there is no topic {name}; {hint}")
        for name in names:
            if name not in there:
                near = get_close_matches(name, [*there, *(each.name for each in TABLES)], n=1)
                hint = f"did you mean {near[0]}?" if near else "see `penstock topics list`"
                raise UsageFailure(f"SQL: there is no table or topic {name}; {hint}")

    def _there(self) -> list[str]:
        from penstock.cli.leader_call import read_metadata

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
            # As JSON, which DuckDB takes in one go: Arrow alone would take longer to import.
            names = [name for name, _ in columns]
            said = json.dumps([dict(zip(names, row, strict=True)) for row in values])
            shape = json.dumps([dict(columns)])
            self._connection.execute(
                f'INSERT INTO "{table.name}" SELECT each.* FROM '
                f"(SELECT unnest(from_json(?, '{shape}')) AS each)",
                [said],
            )

    def _failure(self, error: duckdb.Error, hint: str = "") -> Failure:
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
        return kind(f"SQL: {said}{hint}")


def _unambiguous(topic: str) -> str:
    return f'{TOPICS}."{topic}"' if topic.lower() in CATALOG else topic
