"""Reads RE2's syntax. Look-around and back-references are no part of it.

Owns the reader only. Groups capture nothing here and lazy repetition means the same as greedy,
since only the match of the whole counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.model.pattern_class import (
    any_char,
    escaped_class,
    posix_class,
    simple_escape,
    unicode_class,
)
from penstock.model.pattern_program import (
    EMPTY,
    Assertion,
    Chars,
    PatternProblem,
    Piece,
    Program,
    alternate,
    concat,
    repeat,
)

__all__ = ["PatternProblem", "parse"]

_REPEAT_MAX = 1000
_DEPTH_MAX = 100
_ASSERTIONS = {
    "A": Assertion.START,
    "z": Assertion.END,
    "b": Assertion.WORD_EDGE,
    "B": Assertion.NO_WORD_EDGE,
}


def parse(text: str) -> Program:
    reader = _Reader(text)
    piece = reader.alternation()
    if reader.peek():
        raise PatternProblem("unexpected )")
    return Program(piece)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._flags = frozenset[str]()

    # --- characters ---

    def peek(self, ahead: int = 0) -> str:
        """Empty at the end."""
        at = self._at + ahead
        return self._text[at] if at < len(self._text) else ""

    def _take(self) -> str:
        char = self.peek()
        if not char:
            raise PatternProblem("unexpected end")
        self._at += 1
        return char

    def _taken(self, text: str) -> bool:
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _until(self, text: str) -> str:
        end = self._text.find(text, self._at)
        if end < 0:
            raise PatternProblem(f"missing {text}")
        found, self._at = self._text[self._at : end], end + len(text)
        return found

    # --- structure ---

    def alternation(self) -> Piece:
        pieces = [self._sequence()]
        while self._taken("|"):
            pieces.append(self._sequence())
        return alternate(pieces)

    def _sequence(self) -> Piece:
        pieces: list[Piece] = []
        while self.peek() not in ("", "|", ")"):
            if self._taken("\\Q"):
                pieces += [self._literal(char) for char in self._quoted()]
                pieces[-1:] = [self._repeated(piece) for piece in pieces[-1:]]
            else:
                pieces.append(self._repeated(self._atom()))
        return concat(pieces)

    def _quoted(self) -> str:
        end = self._text.find("\\E", self._at)
        if end < 0:
            end = len(self._text)
        found = self._text[self._at : end]
        self._at = min(end + 2, len(self._text))
        return found

    def _repeated(self, piece: Piece) -> Piece:
        bounds = self._repetition()
        if bounds is None:
            return piece
        self._taken("?")
        if self._repetition() is not None:
            raise PatternProblem("nested repetition")
        return repeat(piece, *bounds)

    def _repetition(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._taken(sign):
                return bounds
        return self._counted()

    def _counted(self) -> tuple[int, int | None] | None:
        """Braces that hold no numbers are plain characters."""
        end = self._text.find("}", self._at)
        if self.peek() != "{" or end < 0:
            return None
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        if not _is_number(low) or (high and not _is_number(high)):
            return None
        self._at = end + 1
        lowest = int(low)
        highest = int(high) if high else (None if comma else lowest)
        if max(lowest, highest or 0) > _REPEAT_MAX or (highest is not None and highest < lowest):
            raise PatternProblem("bad repetition")
        return lowest, highest

    # --- what stands for one step ---

    def _atom(self) -> Piece:
        char = self._take()
        if char == "(":
            return self._group()
        if char == "[":
            return (self._class(),)
        if char == ".":
            return (any_char("s" in self._flags),)
        if char == "^":
            return (Assertion.LINE_START if "m" in self._flags else Assertion.START,)
        if char == "$":
            return (Assertion.LINE_END if "m" in self._flags else Assertion.END,)
        if char == "\\":
            return self._escape()
        if char in "*+?":
            raise PatternProblem(f"nothing to repeat before {char}")
        return self._literal(char)

    def _literal(self, char: str) -> Piece:
        return (Chars(((ord(char), ord(char)),), folded="i" in self._flags),)

    def _group(self) -> Piece:
        with self._nested():
            if self._taken("?"):
                if self._taken("P<") or self._named():
                    if not self._until(">").isidentifier():
                        raise PatternProblem("bad group name")
                elif not self._flagged():
                    return EMPTY
            piece = self.alternation()
            if not self._taken(")"):
                raise PatternProblem("missing )")
            return piece

    def _named(self) -> bool:
        """`(?<name>` but neither `(?<=` nor `(?<!`."""
        return self.peek(1) not in ("=", "!") and self._taken("<")

    def _flagged(self) -> bool:
        """Flags of this group, or with `(?i)` of the rest of the one around: then False."""
        flags, adding = set(self._flags), True
        while (char := self._take()) not in ":)":
            if char == "-" and adding:
                adding = False
            elif char in "imsU":
                (flags.add if adding else flags.discard)(char)
            else:
                raise PatternProblem(f"group of a kind that is not supported: (?{char}")
        self._flags = frozenset(flags)
        self._keeps_flags = char == ")"
        return char == ":"

    _keeps_flags = False

    @contextmanager
    def _nested(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise PatternProblem("nested too deeply")
        flags, self._keeps_flags = self._flags, False
        yield
        if not self._keeps_flags:
            self._flags = flags
        self._keeps_flags = False
        self._depth -= 1

    def _escape(self) -> Piece:
        char = self._take()
        if char in _ASSERTIONS:
            return (_ASSERTIONS[char],)
        if char == "C":
            return (any_char(True),)
        found = self._escaped_class(char)
        if found is not None:
            return (found,)
        return self._literal(self._escaped_char(char))

    def _escaped_class(self, char: str) -> Chars | None:
        if char in "pP":
            name = self._take()
            if name == "{":
                name = self._until("}")
            return unicode_class(name, char == "P")
        return escaped_class(char)

    def _escaped_char(self, char: str) -> str:
        if char == "x":
            return self._hexadecimal()
        if char == "0":
            digits = ""
            while len(digits) < 2 and self.peek() and self.peek() in "01234567":
                digits += self._take()
            return chr(int(digits or "0", 8))
        return simple_escape(char)

    def _hexadecimal(self) -> str:
        digits = self._until("}") if self._taken("{") else self._take() + self._take()
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError):
            raise PatternProblem(f"bad character \\x{digits}") from None

    # --- classes ---

    def _class(self) -> Chars:
        negated = self._taken("^")
        ranges: list[tuple[int, int]] = []
        is_first = True
        while is_first or self.peek() != "]":
            is_first = False
            ranges += self._class_item()
        self._take()
        return Chars(tuple(ranges), negated, "i" in self._flags)

    def _class_item(self) -> list[tuple[int, int]]:
        if self._taken("[:"):
            return posix_class(self._until(":]"))
        low = self._class_char()
        if isinstance(low, list):
            return low
        if self.peek() != "-" or self.peek(1) in ("]", ""):
            return [(ord(low), ord(low))]
        self._take()
        high = self._class_char()
        if isinstance(high, list) or high < low:
            raise PatternProblem("bad range in a class")
        return [(ord(low), ord(high))]

    def _class_char(self) -> str | list[tuple[int, int]]:
        char = self._take()
        if char != "\\":
            return char
        char = self._take()
        found = self._escaped_class(char)
        if found is None:
            return self._escaped_char(char)
        return list(found.ranges)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
