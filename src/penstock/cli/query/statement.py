"""What a statement is about, as DuckDB's own parser reads it. Nothing is run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.cli.failure import UsageFailure

if TYPE_CHECKING:
    import duckdb

_NOT_SELECT: Final = "Only SELECT statements"
_SHOW_TABLES: Final = "SHOW_SPECIAL"


class Parsed(NamedTuple):
    names: list[str]
    """Of the tables that it reads, in their order; those that it makes for itself left out."""
    lists_tables: bool
    """SHOW TABLES."""


def parse(connection: duckdb.DuckDBPyConnection, statement: str) -> Parsed:
    (row,) = connection.execute("SELECT json_serialize_sql(?)", [statement]).fetchall()
    parsed = json.loads(row[0])
    if parsed.get("error"):
        said = str(parsed.get("error_message", "it cannot be read"))
        raise UsageFailure(f"SQL: {'only SELECT is answered' if _NOT_SELECT in said else said}")
    if len(parsed["statements"]) != 1:
        raise UsageFailure("SQL: one statement at a time")
    own = set(_own_names(parsed))
    names = [name for name in dict.fromkeys(_names(parsed)) if name not in own]
    return Parsed(names, any(each.get("show_type") == _SHOW_TABLES for each in _nodes(parsed)))


def _nodes(parsed: Any) -> Iterator[dict[str, Any]]:
    left = [parsed]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            yield each
            left += reversed(list(each.values()))
        elif isinstance(each, list):
            left += reversed(each)


def _names(parsed: Any) -> Iterator[str]:
    for node in _nodes(parsed):
        if node.get("type") == "BASE_TABLE":
            schema = node.get("schema_name") or ""
            if schema.lower() not in ("", "main"):
                name = f"{schema}.{node['table_name']}"
                raise UsageFailure(f'SQL: a name with a dot goes in double quotes: "{name}"')
            yield node["table_name"]


def _own_names(parsed: Any) -> Iterator[str]:
    """Of common table expressions."""
    for node in _nodes(parsed):
        for each in (node.get("cte_map") or {}).get("map") or ():
            yield each["key"]
