"""What a statement is about, as DuckDB's own parser reads it. Nothing is run.

DuckDB takes no notice of upper and lower case, and topics do: names that differ in nothing else
are replaced by others before it sees them. So are those of topics that are called like a table of
the catalog: `topics.name` is always a topic.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.cli.failure import UsageFailure

if TYPE_CHECKING:
    import duckdb

_NOT_SELECT: Final = "Only SELECT statements"
_SHOW_TABLES: Final = "SHOW_SPECIAL"
TOPICS: Final = "topics"
"""The schema of all topics."""


class Parsed(NamedTuple):
    names: list[str]
    """Of the tables that it reads, in their order; those that it makes for itself left out."""
    topics: list[str]
    """Those that it names as topics."""
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
    found = list(dict.fromkeys(_names(parsed)))
    names = [name for is_topic, name in found if not is_topic and name not in own]
    topics = [name for is_topic, name in found if is_topic]
    lists_tables = any(each.get("show_type") == _SHOW_TABLES for each in _nodes(parsed))
    return Parsed(names, topics, lists_tables, parsed)


def table_names(topics: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """What DuckDB is to call each topic: its name, or another where that is taken by a table, or
    only case tells it apart."""
    found: dict[str, str] = {}
    taken = {each.lower() for each in taken}
    for topic in topics:
        name = topic
        while name.lower() in taken:
            # No topic has a name with this sign.
            name += "~"
        taken.add(name.lower())
        found[topic] = name
    return found


def renamed(
    connection: duckdb.DuckDBPyConnection,
    parsed: Parsed,
    names: Mapping[str, str],
    tables: Container[str],
) -> str:
    """The statement with these names of topics; columns still call them by their own. A name of
    one of the tables, in small letters, stays what it is."""
    for node in _nodes(parsed.document):
        if node.get("type") == "BASE_TABLE":
            name, is_topic = node["table_name"], _is_of_topics(node)
            if name in names and (is_topic or name.lower() not in tables):
                node["alias"] = node["alias"] or name
                node["table_name"], node["schema_name"] = names[name], ""
                if "qualified_name" in node:
                    node["qualified_name"]["path"] = [names[name]]
        elif _calls_topic(node):
            del node["column_names"][0]
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


def _names(parsed: Any) -> Iterator[tuple[bool, str]]:
    """With each whether it is said to be a topic."""
    for node in _nodes(parsed):
        if node.get("type") == "BASE_TABLE":
            schema = node.get("schema_name") or ""
            if schema.lower() not in ("", "main", TOPICS):
                name = f"{schema}.{node['table_name']}"
                raise UsageFailure(f'SQL: a name with a dot goes in double quotes: "{name}"')
            yield _is_of_topics(node), node["table_name"]


def _is_of_topics(node: dict[str, Any]) -> bool:
    return (node.get("schema_name") or "").lower() == TOPICS


def _calls_topic(node: dict[str, Any]) -> bool:
    """Whether it is a column, as topics.name.column."""
    names = node.get("column_names") or []
    return len(names) > 2 and str(names[0]).lower() == TOPICS


def _own_names(parsed: Any) -> Iterator[str]:
    """Of common table expressions."""
    for node in _nodes(parsed):
        for each in (node.get("cte_map") or {}).get("map") or ():
            yield each["key"]
