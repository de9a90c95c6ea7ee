"""What SQLite and PostgreSQL say of a table that exists: its columns, their types, its keys.

Changes nothing.
"""

from __future__ import annotations

from typing import Any

from penstock.pipelines.sinks.evolution import TableColumn

_TEXT = ("text", "character varying", "character")
_POSTGRES_HOLDS = {
    "text": _TEXT,
    "bytea": ("bytea",),
    "boolean": ("boolean",),
    "smallint": ("smallint", "integer", "bigint", "numeric", "real", "double precision"),
    "integer": ("integer", "bigint", "numeric", "double precision"),
    "bigint": ("bigint", "numeric"),
    "real": ("real", "double precision"),
    "double precision": ("double precision",),
    "numeric": ("numeric",),
    "date": ("date",),
    "timestamptz": ("timestamp with time zone", "timestamp without time zone"),
    "timestamp": ("timestamp without time zone",),
}
"""Columns that take what we would make a column of the first name for."""
_POSTGRES_KNOWN = {name for names in _POSTGRES_HOLDS.values() for name in names}
_SQLITE_AFFINITIES = (
    ("integer", ("int",)),
    ("text", ("char", "clob", "text")),
    ("blob", ("blob",)),
    ("real", ("real", "floa", "doub")),
)


def postgres_holds(have: str, new: str) -> bool:
    bare = have.partition("(")[0].strip() + have.partition(")")[2]
    # Types that we never make (uuid, json, enums) take text or not: the server knows.
    return bare not in _POSTGRES_KNOWN or bare in _POSTGRES_HOLDS[new]


def postgres_columns(cursor: Any, table: str) -> list[TableColumn]:
    cursor.execute(
        "select attname, format_type(atttypid, atttypmod),"
        " attnotnull and not atthasdef and attidentity = ''"
        " from pg_attribute where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped"
        " order by attnum",
        (table,),
    )
    return [TableColumn(name, kind, required) for name, kind, required in cursor.fetchall()]


def postgres_keys(cursor: Any, table: str) -> list[tuple[str, ...]]:
    cursor.execute(
        "select array_agg(attname::text order by attnum) from pg_index"
        " join pg_attribute on attrelid = indrelid and attnum = any(indkey)"
        " where indrelid = to_regclass(%s) and indisunique and indpred is null"
        " and indexprs is null group by indexrelid order by indexrelid",
        (table,),
    )
    return [tuple(names) for (names,) in cursor.fetchall()]


def sqlite_holds(have: str, new: str) -> bool:
    """By SQLite's own rule of affinities; a column without one takes everything."""
    kind = _affinity(have)
    return kind in ("any", _affinity(new)) or (kind == "real" and new == "integer")


def _affinity(declared: str) -> str:
    folded = declared.lower()
    signs = (name for name, parts in _SQLITE_AFFINITIES if any(each in folded for each in parts))
    return next(signs, "any")


def sqlite_columns(cursor: Any, table: str) -> list[TableColumn]:
    found = cursor.execute(f"pragma {_pragma('table_info', table)}").fetchall()
    return [
        TableColumn(name, kind, bool(not_null and default is None and not key))
        for _, name, kind, not_null, default, key in found
    ]


def sqlite_keys(cursor: Any, table: str) -> list[tuple[str, ...]]:
    columns = cursor.execute(f"pragma {_pragma('table_info', table)}").fetchall()
    primary = tuple(name for _, name, _, _, _, key in columns if key)
    found = [primary] if primary else []
    indexes = cursor.execute(f"pragma {_pragma('index_list', table)}").fetchall()
    schema = table.rpartition(".")[0]
    for _, index, unique, _, partial in indexes:
        if unique and not partial:
            own = f"{schema}.{index}" if schema else index
            parts = cursor.execute(f"pragma {_pragma('index_info', own)}").fetchall()
            found.append(tuple(name for _, _, name in parts))
    # SQLite keeps most primary keys as such an index, too.
    return list(dict.fromkeys(found))


def _pragma(name: str, of: str) -> str:
    schema, _, own = of.rpartition(".")
    return f'"{schema}".{name}("{own}")' if schema else f'{name}("{own}")'
