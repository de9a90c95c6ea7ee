"""The classes of characters that have names, and what escapes stand for."""

from __future__ import annotations

from sys import maxunicode

from penstock.model.pattern_program import Chars, PatternProblem

Ranges = list[tuple[int, int]]

_DIGIT: Ranges = [(0x30, 0x39)]
_LOWER: Ranges = [(0x61, 0x7A)]
_UPPER: Ranges = [(0x41, 0x5A)]
_WORD: Ranges = [*_DIGIT, *_UPPER, (0x5F, 0x5F), *_LOWER]
_SPACE: Ranges = [(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)]
_PUNCTUATION: Ranges = [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)]

_POSIX: dict[str, Ranges] = {
    "alnum": [*_DIGIT, *_UPPER, *_LOWER],
    "alpha": [*_UPPER, *_LOWER],
    "ascii": [(0x00, 0x7F)],
    "blank": [(0x09, 0x09), (0x20, 0x20)],
    "cntrl": [(0x00, 0x1F), (0x7F, 0x7F)],
    "digit": _DIGIT,
    "graph": [(0x21, 0x7E)],
    "lower": _LOWER,
    "print": [(0x20, 0x7E)],
    "punct": _PUNCTUATION,
    "space": [(0x09, 0x0D), (0x20, 0x20)],
    "upper": _UPPER,
    "word": _WORD,
    "xdigit": [*_DIGIT, (0x41, 0x46), (0x61, 0x66)],
}

_UNICODE: dict[str, Ranges] = {
    "L": _POSIX["alpha"],
    "Ll": _LOWER,
    "Lu": _UPPER,
    "N": _DIGIT,
    "Nd": _DIGIT,
    "P": [(ord(char), ord(char)) for char in "!\"#%&'()*,-./:;?@[\\]_{}"],
    "Pc": [(0x5F, 0x5F)],
    "Pd": [(0x2D, 0x2D)],
    "Any": [(0, maxunicode)],
}
"""As far as names of topics go, which are ASCII."""

_SIMPLE = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def any_char(with_newline: bool) -> Chars:
    return Chars(() if with_newline else ((10, 10),), negated=True)


def escaped_class(char: str) -> Chars | None:
    ranges = {"d": _DIGIT, "w": _WORD, "s": _SPACE}.get(char.lower())
    if ranges is None:
        return None
    return Chars(tuple(complement(ranges) if char.isupper() else ranges))


def posix_class(name: str) -> Ranges:
    is_negated = name.startswith("^")
    ranges = _POSIX.get(name.removeprefix("^"))
    if ranges is None:
        raise PatternProblem(f"no class of the name [:{name}:]")
    return complement(ranges) if is_negated else ranges


def unicode_class(name: str, is_negated: bool) -> Chars:
    if name.startswith("^"):
        name, is_negated = name[1:], not is_negated
    ranges = _UNICODE.get(name)
    if ranges is None:
        raise PatternProblem(f"no class of the name \\p{{{name}}}")
    return Chars(tuple(complement(ranges) if is_negated else ranges))


def simple_escape(char: str) -> str:
    """Punctuation stands for itself; letters and digits that mean nothing are mistakes."""
    if char in _SIMPLE:
        return _SIMPLE[char]
    if char.isascii() and char.isalnum():
        raise PatternProblem(f"no such escape: \\{char}")
    return char


def complement(ranges: Ranges) -> Ranges:
    made, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            made.append((start, low - 1))
        start = high + 1
    return [*made, (start, maxunicode)] if start <= maxunicode else made
