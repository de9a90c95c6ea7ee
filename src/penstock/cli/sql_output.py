"""Rows of an answer printed as they come: as a table, JSON objects, or CSV."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from penstock.cli.output import NUMERIC, one_line, print_line, print_table

Row = tuple[Any, ...]


class RowFormat(StrEnum):
    table = "table"
    json = "json"
    csv = "csv"


def print_rows(columns: Sequence[str], parts: Iterator[list[Row]], form: RowFormat) -> None:
    match form:
        case RowFormat.json:
            _print_json(columns, parts)
        case RowFormat.csv:
            _print_csv(columns, parts)
        case RowFormat.table:
            _print_table(columns, parts)


def _print_table(columns: Sequence[str], parts: Iterator[list[Row]]) -> None:
    """Aligned by the first part; what comes later is as wide as it is."""
    first = next(parts, [])
    shown = [[_cell(each) for each in row] for row in first]
    print_table(columns, shown)
    widths = [
        max([len(name), *(len(str(row[index])) for row in shown)])
        for index, name in enumerate(columns)
    ]
    for part in parts:
        for row in part:
            print_line("  ".join(_padded(_cell(v), w) for v, w in zip(row, widths, strict=True)))


def _padded(cell: Any, width: int) -> str:
    text = "-" if cell is None else str(cell)
    return text.rjust(width) if isinstance(cell, NUMERIC) else text.ljust(width)


def _print_json(columns: Sequence[str], parts: Iterator[list[Row]]) -> None:
    names = _told_apart(columns)
    for part in parts:
        for row in part:
            said = {name: _jsonable(value) for name, value in zip(names, row, strict=True)}
            print_line(json.dumps(said, ensure_ascii=False))
        sys.stdout.flush()


def _print_csv(columns: Sequence[str], parts: Iterator[list[Row]]) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for part in parts:
        writer.writerows([_plain(each) if each is not None else "" for each in row] for row in part)


def _told_apart(columns: Sequence[str]) -> list[str]:
    """A join may have two columns of one name: the second is name_1, as in a table made of it."""
    names: list[str] = []
    for each in columns:
        name, number = each, 0
        while name in names:
            number += 1
            name = f"{each}_{number}"
        names.append(name)
    return names


def _jsonable(value: Any) -> Any:
    """JSON has no numbers that are none, and only texts as names."""
    if isinstance(value, dict):
        return {str(_plain(name)): _jsonable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return None if value is None else _plain(value)


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, NUMERIC):
        return value
    return one_line(str(_plain(value)))


def _plain(value: Any) -> Any:
    """What JSON has no form for, as text."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str | int | float | bool) else str(value)
