"""What an expression is compiled to: a list of steps, some of which fork.

Owns the pieces and how they are put together. Knows nothing of the syntax.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

_CODE_MAX = 10_000

_WORD = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")


class PatternProblem(ValueError):
    """What is wrong with an expression."""


@dataclass(frozen=True, slots=True)
class Chars:
    """Ranges of code points, both ends included."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False
    folded: bool = False
    """Upper and lower case are one."""

    def __contains__(self, char: object) -> bool:
        assert isinstance(char, str)
        forms = {char, char.lower(), char.upper()} if self.folded else (char,)
        found = any(
            low <= ord(form) <= high
            for form in forms
            if len(form) == 1
            for low, high in self.ranges
        )
        return found is not self.negated


class Assertion(Enum):
    START = "start"
    LINE_START = "start of a line"
    END = "end"
    LINE_END = "end of a line"
    WORD_EDGE = "edge of a word"
    NO_WORD_EDGE = "no edge of a word"

    def holds(self, before: str | None, after: str | None) -> bool:
        if self is Assertion.START:
            return before is None
        if self is Assertion.END:
            return after is None
        if self is Assertion.LINE_START:
            return before in (None, "\n")
        if self is Assertion.LINE_END:
            return after in (None, "\n")
        is_edge = (before in _WORD) is not (after in _WORD)
        return is_edge is (self is Assertion.WORD_EDGE)


class Fork(NamedTuple):
    """Where to go on, relative to the fork."""

    ways: tuple[int, ...]


Piece = tuple[Chars | Assertion | Fork, ...]
EMPTY: Piece = ()


class Program:
    """Forks have become tuples of the places they lead to."""

    __slots__ = ("code", "end")

    def __init__(self, piece: Piece) -> None:
        self.code: list[Chars | Assertion | tuple[int, ...]] = [
            tuple(place + way for way in one.ways) if isinstance(one, Fork) else one
            for place, one in enumerate(piece)
        ]
        self.end = len(self.code)


def concat(pieces: Sequence[Piece]) -> Piece:
    return _checked(tuple(one for piece in pieces for one in piece))


def alternate(pieces: Sequence[Piece]) -> Piece:
    """The first way, or one of the others."""
    made = pieces[-1]
    for piece in reversed(pieces[:-1]):
        fork, skip = Fork((1, len(piece) + 2)), Fork((len(made) + 1,))
        made = _checked((fork, *piece, skip, *made))
    return made


def repeat(piece: Piece, lowest: int, highest: int | None) -> Piece:
    if lowest * len(piece) > _CODE_MAX or (highest or 0) * (len(piece) + 1) > _CODE_MAX:
        raise PatternProblem("expression too large")
    made = piece * lowest
    if highest is None:
        made += (Fork((1, len(piece) + 2)), *piece, Fork((-len(piece) - 1,)))
    else:
        left = highest - lowest
        size = len(piece) + 1
        for done in range(left):
            made += (Fork((1, (left - done) * size)), *piece)
    return _checked(made)


def _checked(piece: Piece) -> Piece:
    if len(piece) > _CODE_MAX:
        raise PatternProblem("expression too large")
    return piece
