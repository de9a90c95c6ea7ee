"""Lines that wait to be written, up to a bound: those beyond it are lost, and counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

BYTES_MAX = 8 * 1024 * 1024


class Backlog:
    def __init__(self, bytes_max: int = BYTES_MAX) -> None:
        self.lost = 0
        self._bytes_max = bytes_max
        self._lines: deque[bytes] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._lines)

    def put(self, line: bytes) -> None:
        if self._bytes + len(line) > self._bytes_max:
            self.lost += 1
        else:
            self._lines.append(line)
            self._bytes += len(line)

    def put_all(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.put(line)

    def peek(self, bytes_max: int) -> list[bytes]:
        """The first lines of at most so many bytes, but one at least. They stay until `drop`."""
        found: list[bytes] = []
        size = 0
        for line in self._lines:
            size += len(line)
            if found and size > bytes_max:
                break
            found.append(line)
        return found

    def drop(self, count: int) -> None:
        for _ in range(count):
            self._bytes -= len(self._lines.popleft())

    def take(self) -> list[bytes]:
        lines = list(self._lines)
        self.drop(len(lines))
        return lines
