"""What a statement is about, as DuckDB's own parser reads it. Nothing is run.

DuckDB takes no notice of upper and lower case, and topics do: names that differ in nothing else
are replaced by others before it sees them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
    document: dict[str, Any]
    """As DuckDB serializes it."""


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
    lists_tables = any(each.get("show_type") == _SHOW_TABLES for each in _nodes(parsed))
    return Parsed(names, lists_tables, parsed)


def table_names(topics: list[str]) -> dict[str, str]:
    """What DuckDB is to call each topic: its name, or another where only case tells it apart."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for topic in topics:
        name = topic
        while name.lower() in taken:
            # No topic has a name with this sign.
            name += "~"
        taken.add(name.lower())
        found[topic] = name
    return found


def renamed(connection: duckdb.DuckDBPyConnection, parsed: Parsed, names: Mapping[str, str]) -> str:
    """The statement with these names of tables; columns still call them by their own."""
    for node in _nodes(parsed.document):
        if node.get("type") == "BASE_TABLE" and (name := node["table_name"]) in names:
            node["alias"] = node["alias"] or name
            node["table_name"] = names[name]
            if "qualified_name" in node:
                node["qualified_name"]["path"][-1] = names[name]
    said = json.dumps(parsed.document)
    (row,) = connection.execute("SELECT json_deserialize_sql(?)", [said]).fetchall()
    return str(row[0])


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
