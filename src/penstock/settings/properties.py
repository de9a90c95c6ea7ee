"""Java's .properties format: what Kafka's server.properties is written in.

Comments with # or !, keys ended by =, : or white space, values continued behind a backslash at
the end of a line, and backslash escapes. Knows nothing about what the keys mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

_BLANK: Final = " \t\f"
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Property(NamedTuple):
    key: str
    value: str
    line: int
    """Where its first line stands, counted from 1."""


class PropertiesProblem(ValueError):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def parse_properties(text: str) -> list[Property]:
    """In the order of the file; a key given twice is there twice."""
    found = []
    for number, line in _logical_lines(text):
        key, value = _split(line)
        found.append(Property(_unescape(key, number), _unescape(value, number), number))
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    pending, first = "", 0
    for number, line in enumerate(_natural_lines(text), 1):
        line = line.lstrip(_BLANK)
        if not first and (not line or line[0] in "#!"):
            continue
        first = first or number
        if _is_continued(line):
            pending += line[:-1]
            continue
        if pending or line:
            yield first, pending + line
        pending, first = "", 0
    if pending:
        yield first, pending


def _natural_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    end = _key_end(line)
    rest = line[end:].lstrip(_BLANK)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANK)
    return line[:end], rest


def _key_end(line: str) -> int:
    pos = 0
    while pos < len(line):
        if line[pos] == "\\":
            pos += 2
            continue
        if line[pos] in "=:" or line[pos] in _BLANK:
            return pos
        pos += 1
    return len(line)


def _unescape(text: str, line: int) -> str:
    if "\\" not in text:
        return text
    out = []
    pos = 0
    while pos < len(text):
        if text[pos] != "\\":
            out.append(text[pos])
            pos += 1
        elif text[pos + 1 : pos + 2] == "u":
            out.append(_unicode(text[pos + 2 : pos + 6], line))
            pos += 6
        else:
            escaped = text[pos + 1 : pos + 2]
            out.append(_ESCAPES.get(escaped, escaped))
            pos += 2
    return "".join(out)


def _unicode(digits: str, line: int) -> str:
    try:
        if len(digits) != 4 or not digits.isalnum():
            raise ValueError
        return chr(int(digits, 16))
    except ValueError:
        raise PropertiesProblem(line, f"malformed \\u escape: \\u{digits}") from None
