"""How far the work on one partition is: what may be committed, what is done beyond it. Pure.

Records are begun in the order of their offsets and finished in any. The position is the first
offset that is not finished; what is finished beyond it goes into the commit's metadata, so that
whoever takes the partition over does not do it again.
"""

from __future__ import annotations

import zlib
from collections import deque
from typing import NamedTuple

from penstock.client.app.suspicion import InHand
from penstock.client.offset_ranges import decode_ranges, encode_fitting

_FORM = "a1"
_OPEN, _CLOSED = "open", "closed"


class Commit(NamedTuple):
    offset: int
    metadata: str
    covered: frozenset[int]
    """Of what is finished beyond the offset, what the metadata has room for."""


class Note(NamedTuple):
    """A commit's metadata, read."""

    is_open: bool
    """Whoever wrote it was at work, and did not say that it ended."""
    in_hand: InHand | None
    finished: frozenset[int]


class Progress:
    __slots__ = ("_beyond", "is_dirty", "known", "next_offset", "opened")

    def __init__(self, position: int, finished: frozenset[int] = frozenset()) -> None:
        self.next_offset = position
        """Behind the last record that was begun."""
        self.opened: deque[int] = deque()
        """Begun, and not passed by the position."""
        self._beyond: set[int] = set()
        """Finished, and not passed by the position."""
        self.known = set(finished)
        """Finished by an earlier owner, not read yet."""
        self.is_dirty = False

    @property
    def position(self) -> int:
        return self.opened[0] if self.opened else self.next_offset

    @property
    def in_flight(self) -> int:
        return len(self.opened) - len(self._beyond)

    def begin(self, offset: int) -> bool:
        """Whether the record is to be worked on; not if an earlier owner finished it."""
        if offset < self.next_offset:
            return False
        self.next_offset = offset + 1
        if self.known and offset in self.known:
            self.known.discard(offset)
            if self.opened:
                self.opened.append(offset)
                self._beyond.add(offset)
            self.is_dirty = True
            return False
        self.opened.append(offset)
        return True

    def finish(self, offset: int) -> None:
        self.is_dirty = True
        opened = self.opened
        if opened[0] != offset:
            self._beyond.add(offset)
            return
        opened.popleft()
        beyond = self._beyond
        while beyond and opened and opened[0] in beyond:
            beyond.discard(opened.popleft())

    def passed(self, offset: int) -> None:
        """Begun and finished in one go, while others are open."""
        self.opened.append(offset)
        self._beyond.add(offset)
        self.next_offset = offset + 1

    def end_at(self, offset: int) -> None:
        """All before this offset was read: what was no record is passed by."""
        if not self.opened and self.next_offset < offset:
            self.next_offset = offset
            self.is_dirty = True

    def commit(self, *, is_open: bool = True, in_hand: InHand | None = None) -> Commit:
        """What to commit now; counts as committed from here on."""
        self.is_dirty = False
        position = self.position
        done = self._beyond | self.known
        text, covered = encode_fitting(done, position) if done else ("", set())
        hand = "" if in_hand is None else str(in_hand)
        state = _OPEN if is_open else _CLOSED
        return Commit(position, f"{_FORM};{state};{hand};{text}", frozenset(covered))


def read_note(metadata: str | None, position: int) -> Note:
    """What a commit's metadata says; nothing, where it is not ours."""
    parts = (metadata or "").split(";")
    if len(parts) != 4 or parts[0] != _FORM:
        return Note(False, None, frozenset())
    try:
        finished = frozenset(decode_ranges(parts[3], position))
    except (ValueError, zlib.error):
        finished = frozenset()
    return Note(parts[1] == _OPEN, InHand.parse(parts[2]), finished)
