"""Reading and checking transcripts: a command, a line of dashes, what must come out.

Steps stand apart by a blank line; lines that begin with `#` are comments. With the environment
variable REWRITE_TRANSCRIPTS set, files are written anew from what comes out: read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import ZERO_OF_TYPE, Entity, Field

DASHES = "----"


@dataclass
class Step:
    comments: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def render(self) -> str:
        lines = [*self.comments]
        if self.command:
            lines += [*self.command, DASHES, *self.expected]
        return "\n".join(lines)


def parse(text: str) -> list[Step]:
    return [_parse_step(block) for block in text.strip().split("\n\n")]


def _parse_step(block: str) -> Step:
    step = Step()
    lines = block.splitlines()
    if DASHES in lines:
        at = lines.index(DASHES)
        lines, step.expected = lines[:at], lines[at + 1 :]
    step.comments = [line for line in lines if line.startswith("#")]
    step.command = [line for line in lines if not line.startswith("#")]
    return step


def check(path: Path, run: Callable[[list[str]], list[str]]) -> None:
    steps = parse(path.read_text())
    for step in steps:
        if step.command:
            came_out = run(step.command)
            if "REWRITE_TRANSCRIPTS" in os.environ:
                step.expected = came_out
            assert came_out == step.expected, f"{path.name}: {step.command}"
    if "REWRITE_TRANSCRIPTS" in os.environ:
        path.write_text("\n\n".join(step.render() for step in steps) + "\n")


class Names:
    """Ids drawn in a transcript, shown as #1, #2, … in the order they were drawn."""

    def __init__(self) -> None:
        self._shown: dict[bytes, str] = {}

    def draw(self) -> bytes:
        value = (len(self._shown) + 1).to_bytes(1, "big") * 16
        self._shown[value] = f"#{len(self._shown) + 1}"
        return value

    def by_name(self, shown: str) -> bytes:
        return next((id_ for id_, name in self._shown.items() if name == shown), b"\xff" * 16)

    def show(self, value: object) -> str:
        if isinstance(value, bytes) and len(value) == 16:
            return self._shown.get(value, value.hex().lstrip("0"))
        if isinstance(value, Entity):
            return "{" + " ".join(self.fields(value)) + "}"
        if isinstance(value, list | tuple):
            return "[" + ",".join(self.show(item) for item in value) + "]"
        if isinstance(value, str):
            return value if value and " " not in value else repr(value)
        return str(value)

    def entity(self, value: Entity) -> str:
        return " ".join([value.NAME, *self.fields(value)])

    def fields(self, value: Entity, skip: tuple[str, ...] = ()) -> list[str]:
        """Without those that have their default: a transcript shows what was said."""
        return [
            f"{one.name}={self.show(getattr(value, one.name))}"
            for one in value.SCHEMA
            if one.name not in skip and not _is_default(one, getattr(value, one.name))
        ]


def _is_default(field: Field, value: object) -> bool:
    if field.default is not ZERO_OF_TYPE:
        return value == field.default
    return value is None or value in (0, "", ZERO_ID, [])
