"""What replies are made of.

A reply is a list of parts: bytes held in memory, or a slice of a file that goes to the socket
without passing through Python.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Protocol, TypeGuard

from penstock.network.later import Later
from penstock.network.turn import Turn


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


class Exclusive:
    """A reply that is worked on for long: what comes behind it on its connection is not begun
    before it is done. `end` is called then, whatever became of it."""

    __slots__ = ("end", "waiting")

    def __init__(
        self, waiting: Coroutine[Any, Any, Reply], end: Callable[[], None] = lambda: None
    ) -> None:
        self.waiting = waiting
        self.end = end


Served = Reply | Later[Reply] | Coroutine[Any, Any, Reply] | Exclusive | Turn
"""A `Turn`: not now, but the same frame again when it is this one's turn."""


def is_file_part(part: Part) -> TypeGuard[FilePart]:
    return not isinstance(part, (bytes, bytearray, memoryview))


def memory_bytes(parts: Iterable[Part]) -> int:
    return sum(len(part) for part in parts if not is_file_part(part))


def release(parts: Reply) -> None:
    """Of a reply that will not be sent."""
    for part in parts or ():
        if is_file_part(part):
            part.release()
