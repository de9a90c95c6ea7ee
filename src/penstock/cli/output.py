"""How results are printed: aligned columns, a rich table on a terminal, or one JSON document."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from shutil import get_terminal_size
from typing import Any
from unicodedata import combining, east_asian_width

NUMERIC = (int, float)
Cell = str | int | float | None
_NO_TIMESTAMP = -1
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What moves a terminal's cursor, or turns its text around; lines and tabs are ours."""


def harmless(text: str) -> str:
    """Names of groups, clients and keys are whatever somebody sent: none of them may drive the
    terminal of whoever looks at them. Escaped as in JSON, so that JSON stays the same."""
    if text.isprintable():
        return text
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def quoted(name: str) -> str:
    """As an argument of a command that is shown to be copied: whoever chose the name, the shell
    takes it for nothing but a name."""
    from shlex import quote

    if name.isprintable():
        return quote(name)
    plain = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{one_line(plain)}'"


def print_line(text: str) -> None:
    sys.stdout.write(harmless(text) + "\n")


def note(text: str) -> None:
    """For the person, beside the output: on stderr."""
    sys.stderr.write(harmless(text) + "\n")
    sys.stderr.flush()


def print_json(document: Any) -> None:
    print_line(json.dumps(document, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    plain = plain_table(columns, rows)
    # A table that does not fit would be cut or broken within its cells: the terminal wraps it.
    if sys.stdout.isatty() and max(map(_width, plain)) <= get_terminal_size().columns:
        _print_rich(columns, rows)
        return
    for line in plain:
        print_line(line)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Columns two spaces apart, the header in capitals: easy on awk and on the eye."""
    cells = [[column.upper() for column in columns], *([_show(cell) for cell in r] for r in rows)]
    widths = [max(_width(row[i]) for row in cells) for i in range(len(columns))]
    right = [all(isinstance(row[i], NUMERIC) for row in rows) for i in range(len(columns))]
    return [_align(row, widths, right) for row in cells]


def _align(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, to_right in zip(row, widths, right, strict=True):
        space = " " * (width - _width(cell))
        padded.append(space + cell if to_right else cell + space)
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """Columns of a terminal: of Chinese, Japanese and Korean two for a letter."""
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text
    )


def _print_rich(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # As wide as the plain table: two spaces between columns.
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], NUMERIC) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_show(cell)) for cell in row))
    Console().print(table)


def _show(cell: Cell) -> str:
    return "-" if cell is None else one_line(str(cell))


def one_line(text: str) -> str:
    """A row is a line: what would begin another, or move the cursor, is escaped."""
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]


def human_bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def show_time(timestamp_ms: int | None, precision: str = "seconds") -> str:
    """In UTC; records may carry any 64-bit number, which then is shown as it is."""
    if timestamp_ms is None or timestamp_ms == _NO_TIMESTAMP:
        return "-"
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"@{timestamp_ms}"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


def show_age(timestamp_ms: int | None, now_ms: int) -> str:
    """How long ago, in its largest unit: short enough to stand in a table."""
    if timestamp_ms is None:
        return "-"
    seconds = max(now_ms - timestamp_ms, 0) // 1000
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit} ago"
    return f"{seconds}s ago"
