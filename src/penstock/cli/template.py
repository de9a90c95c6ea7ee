"""Output templates of `penstock consume`: kcat's letters, compiled once. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from penstock.cli.failure import UsageFailure
from penstock.cli.value import Format, show_bytes, unescape

Part = bytes | Callable[[Any], bytes]
_PERCENT = re.compile(r"%(.?)", re.DOTALL)
LETTERS = "%t topic, %p partition, %o offset, %T time in ms, %k key, %s value, %h headers"


class Template:
    """`%S` and `%K` are the sizes of value and key in bytes, -1 for none; `%%` is a percent."""

    def __init__(self, text: str, key_format: Format, value_format: Format) -> None:
        letters = {
            "t": lambda record: record.topic().encode(),
            "p": lambda record: b"%d" % record.partition(),
            "o": lambda record: b"%d" % record.offset(),
            "T": lambda record: b"%d" % record.timestamp()[1],
            "k": lambda record: show_bytes(record.key(), key_format),
            "K": lambda record: b"%d" % _size(record.key()),
            "s": lambda record: show_bytes(record.value(), value_format),
            "S": lambda record: b"%d" % _size(record.value()),
            "h": lambda record: show_headers(record.headers()),
        }
        self._parts = list(_parts(text, letters))

    def render(self, record: Any) -> bytes:
        return b"".join(part if isinstance(part, bytes) else part(record) for part in self._parts)


def _parts(text: str, letters: dict[str, Callable[[Any], bytes]]) -> list[Part]:
    parts: list[Part] = []
    place = 0
    for found in _PERCENT.finditer(text):
        parts.append(unescape(text[place : found.start()]))
        place = found.end()
        if found[1] == "%":
            parts.append(b"%")
        elif found[1] in letters:
            parts.append(letters[found[1]])
        else:
            raise UsageFailure(f"--template has no %{found[1]}; there are {LETTERS}, %S, %K and %%")
    parts.append(unescape(text[place:]))
    return parts


def _size(content: bytes | None) -> int:
    return -1 if content is None else len(content)


def show_headers(headers: list[tuple[str, bytes | None]] | None) -> bytes:
    """`name=value` separated by commas; a name alone has no value."""
    return b",".join(
        name.encode() if value is None else name.encode() + b"=" + value
        for name, value in headers or ()
    )
