"""What replies are made of.

A reply is a list of parts: bytes held in memory, or a slice of a file that goes to the socket
without passing through Python.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol, TypeGuard

from penstock.network.later import Later


class FilePart(Protocol):
    """A range of an open file; the file stays open until `release` is called."""

    fd: int
    position: int

    def __len__(self) -> int: ...

    def read(self) -> bytes: ...

    def release(self) -> None: ...


Part = bytes | bytearray | memoryview | FilePart
Reply = list[Part] | None
"""None: the request wants no reply (produce with acks=0)."""

Served = Reply | Later[Reply] | Coroutine[Any, Any, Reply]


def is_file_part(part: Part) -> TypeGuard[FilePart]:
    return not isinstance(part, (bytes, bytearray, memoryview))
