"""Regular expressions over names that clients send, in the syntax Kafka takes (RE2's).

Python's own expressions backtrack: a few characters from any client could keep the node busy for
years. This engine follows all ways at once, so its time grows with the name's length alone. It
answers one question: does the whole name match.
"""

from __future__ import annotations

from penstock.model.pattern_program import Assertion, Program
from penstock.model.pattern_syntax import PatternProblem, parse

__all__ = ["Pattern", "PatternProblem"]

_CACHE_MAX = 10_000

_Places = frozenset[int]
_Around = tuple[_Places, "str | None", "str | None"]


class Pattern:
    __slots__ = ("_program", "_steps")

    def __init__(self, text: str) -> None:
        self._program: Program = parse(text)
        self._steps: dict[_Around, _Places] = {}

    def matches(self, name: str) -> bool:
        places: _Places = frozenset((0,))
        before: str | None = None
        for char in name:
            places = self._step(places, before, char)
            if not places:
                return False
            before = char
        return bool(self._step(places, before, None))

    def _step(self, places: _Places, before: str | None, char: str | None) -> _Places:
        """Where the program may stand after the character; at the end, whether it is through."""
        key = (places, before, char)
        found = self._steps.get(key)
        if found is None:
            if len(self._steps) >= _CACHE_MAX:
                self._steps.clear()
            found = self._steps[key] = self._advance(places, before, char)
        return found

    def _advance(self, places: _Places, before: str | None, char: str | None) -> _Places:
        program = self._program
        seen: set[int] = set()
        todo = list(places)
        after: set[int] = set()
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            if place == program.end:
                if char is None:
                    after.add(place)
                continue
            instruction = program.code[place]
            if isinstance(instruction, tuple):
                todo += instruction
            elif isinstance(instruction, Assertion):
                if instruction.holds(before, char):
                    todo.append(place + 1)
            elif char is not None and char in instruction:
                after.add(place + 1)
        return frozenset(after)
