"""A table that stays in place on a terminal, and a line now and then in a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tools.demonstration.telling import on_terminal, say

Row = tuple[str, str, str]
_LINE_EVERY_S = 5.0


class LiveTable:
    def __init__(self) -> None:
        self._live: Any = None
        self._said_notes = 0
        self._next_line_s = 0.0

    def __enter__(self) -> LiveTable:
        if on_terminal:
            from rich.live import Live

            self._live = Live(refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, seconds: float, rows: Sequence[Row], notes: Sequence[str]) -> None:
        if self._live is not None:
            self._live.update(_drawn(seconds, rows, notes))
            return
        for note in notes[self._said_notes :]:
            say(note)
        self._said_notes = len(notes)
        if seconds >= self._next_line_s:
            self._next_line_s = seconds + _LINE_EVERY_S
            say(f"{seconds:4.0f} s  " + "; ".join(f"{name} {value}" for name, value, _ in rows))


def _drawn(seconds: float, rows: Sequence[Row], notes: Sequence[str]) -> Any:
    from rich.box import SIMPLE
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right", style="cyan")
    table.add_column(style="dim")
    for row in rows:
        table.add_row(*map(Text, row))
    lines = [Text(f"  {note}", style="yellow") for note in notes]
    return Group(Text(f"  {seconds:.0f} s", style="dim"), table, *lines)
