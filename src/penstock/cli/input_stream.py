"""The bytes that `penstock produce` reads, and whether all of them were there at once.

A short input that ends at once is known to be complete before a producer is made; a long one, or
one that is still being written, is a stream. It never looks at what the bytes mean.
"""

from __future__ import annotations

import io
import os
import select
from collections.abc import Callable
from typing import IO

_AHEAD_BYTES = 1 << 16
_PATIENCE_S = 0.05
"""How long an input may pause and still count as complete: as a pipe's writer does at its end."""

Ready = Callable[[int, float], bool]


def _is_ready(descriptor: int, timeout_s: float) -> bool:
    return bool(select.select([descriptor], [], [], timeout_s)[0])


class InputStream:
    """Reads ahead a little, to see whether the input ends there; `content` has all of it."""

    def __init__(
        self, descriptor: int, name: str, *, ready: Ready = _is_ready, owned: bool = False
    ) -> None:
        self._owned = owned
        self._raw = _Replay(descriptor, name)
        self.complete = self._raw.read_ahead(ready)
        self.content: IO[bytes] = io.BufferedReader(self._raw, _AHEAD_BYTES)

    @classmethod
    def open(cls, path: str) -> InputStream:
        return cls(os.open(path, os.O_RDONLY), path, owned=True)

    def __enter__(self) -> InputStream:
        return self

    def __exit__(self, *_: object) -> None:
        if self._owned:
            os.close(self._raw.descriptor)


class _Replay(io.RawIOBase):
    """A descriptor, of which some was read before."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.descriptor = descriptor
        self._name = name
        self._ahead = bytearray()

    def read_ahead(self, ready: Ready) -> bool:
        while len(self._ahead) < _AHEAD_BYTES and ready(self.descriptor, _PATIENCE_S):
            chunk = self._read(_AHEAD_BYTES)
            if not chunk:
                return True
            self._ahead += chunk
        return False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = bytes(self._ahead[: len(buffer)]) or self._read(len(buffer))
        del self._ahead[: len(chunk)]
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def _read(self, size: int) -> bytes:
        try:
            return os.read(self.descriptor, size)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._name) from error
