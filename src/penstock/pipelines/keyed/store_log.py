"""The states of one bucket, as the log of their changes that Spark's state store holds.

Each batch appends the states it has changed, in entries of a bounded size. An entry begins with the
digest of the one before it, and the head names the entries that there are and the digest of the
last one; so equal heads mean equal states, whichever worker and whichever attempt of a batch wrote
them. When the log holds much more than the states, its oldest entries go: what is still true of
them is written once more with the batch's own changes. That is a little work with each batch and
never a long stop. Pure: what to put and what to remove is returned, and somebody else does it.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import NamedTuple

from penstock.pipelines.error import RunError

ENTRY_BYTES_MAX = 1 << 20
# Twice the states is where room and the work of making it are in balance; below so many records
# there is nothing to gain.
LOG_RECORDS_MIN = 20_000
_NONE = 0xFFFF_FFFF
_DIGEST_BYTES = 16
_HEAD = struct.Struct(f"<qq{_DIGEST_BYTES}s")


class UnfitError(RunError):
    """Entries that are not one log with each other, or with what was replayed before them."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the state in the checkpoint does not fit together ({what}): was a part of the"
            " directory put back from a copy? Put the whole copy back, or begin with an empty one"
        )


class Head(NamedTuple):
    first: int
    """The oldest entry that is kept."""
    next: int
    """The number of the entry to come."""
    digest: bytes

    def encode(self) -> bytes:
        return _HEAD.pack(*self)


EMPTY = Head(0, 0, bytes(_DIGEST_BYTES))


def decode_head(value: bytes | None) -> Head:
    return EMPTY if value is None else Head(*_HEAD.unpack(value))


class Appended(NamedTuple):
    """What to write to have a batch's changes in the store."""

    entries: list[tuple[int, bytes]]
    removed: range
    head: Head


class StateLog:
    def __init__(self) -> None:
        self.head = EMPTY
        self.states: dict[bytes, bytes] = {}
        """Encoded, by key."""
        self._entry_of: dict[bytes, int] = {}
        """Where the last change of a key stands; of forgotten keys too, while that is there."""
        self._keys: dict[int, PackedKeys] = {}
        self._records = 0

    def replay(self, head: Head, entries: Iterable[bytes]) -> None:
        """Take in the entries from our own end, or from the head's first one, to the head's end."""
        begun = bool(self._keys)
        if not begun:
            self.head = Head(head.first, head.first, EMPTY.digest)
        for value in entries:
            number = self.head.next
            if begun and value[:_DIGEST_BYTES] != self.head.digest:
                raise UnfitError(f"entry {number} does not follow the one before it")
            begun = True
            keys, values = decode_entry(value)
            self._note(number, keys)
            for key, state in zip(keys, values, strict=True):
                if state is None:
                    self.states.pop(key, None)
                else:
                    self.states[key] = state
            self.head = Head(self.head.first, number + 1, digest(value))
        self._forget(range(self.head.first, head.first))
        if self.head != head:
            raise UnfitError(f"its entries end at {self.head.next}, and not at {head.next}")

    def append(self, changed: Mapping[bytes, bytes | None]) -> Appended:
        removed, records = self._cleaned(changed)
        for key, state in changed.items():
            if state is None:
                self.states.pop(key, None)
            else:
                self.states[key] = state
        records.extend(changed.items())
        entries = []
        for part in _parts(records):
            number, last = self.head.next, self.head.digest
            keys = [key for key, _ in part]
            value = encode_entry(last, keys, [state for _, state in part])
            self._note(number, keys)
            entries.append((number, value))
            self.head = Head(removed.stop, number + 1, digest(value))
        return Appended(entries, removed, self.head)

    def _cleaned(
        self, changed: Mapping[bytes, bytes | None]
    ) -> tuple[range, list[tuple[bytes, bytes | None]]]:
        """The oldest entries, forgotten, and what they hold that is still true."""
        carried: list[tuple[bytes, bytes | None]] = []
        number, first = self.head.first, self.head.first
        room = 2 * len(self.states) + LOG_RECORDS_MIN
        while self._records + len(carried) + len(changed) > room and number < self.head.next:
            if len(carried) > 2 * len(changed):
                break  # the batches to come do the rest
            for key in self._keys[number]:
                if self._entry_of.get(key) != number or key in changed:
                    continue
                if key in self.states:
                    carried.append((key, self.states[key]))
                else:
                    del self._entry_of[key]
            self._records -= len(self._keys.pop(number))
            number += 1
        return range(first, number), carried

    def _forget(self, numbers: range) -> None:
        for number in numbers:
            keys = self._keys.pop(number)
            self._records -= len(keys)
            for key in keys:
                if self._entry_of.get(key) == number and key not in self.states:
                    del self._entry_of[key]
        self.head = self.head._replace(first=max(self.head.first, numbers.stop))

    def _note(self, number: int, keys: Sequence[bytes]) -> None:
        self._keys[number] = PackedKeys(keys)
        self._records += len(keys)
        self._entry_of.update(dict.fromkeys(keys, number))


class PackedKeys:
    """Keys in a fraction of the memory that as many objects take."""

    __slots__ = ("_bytes", "_lengths")

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._lengths = array("I", map(len, keys))
        self._bytes = b"".join(keys)

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[bytes]:
        return iter(_split(self._bytes, self._lengths))


def digest(value: bytes) -> bytes:
    return blake2b(value, digest_size=_DIGEST_BYTES).digest()


def encode_entry(before: bytes, keys: Sequence[bytes], states: Sequence[bytes | None]) -> bytes:
    """The digest before it, how many, the lengths of keys and states, then all of them."""
    count = len(keys)
    lengths = struct.pack(
        f"<I{2 * count}I",
        count,
        *map(len, keys),
        *(_NONE if state is None else len(state) for state in states),
    )
    return b"".join((before, lengths, *keys, *(state for state in states if state)))


def decode_entry(value: bytes) -> tuple[list[bytes], list[bytes | None]]:
    (count,) = struct.unpack_from("<I", value, _DIGEST_BYTES)
    start = _DIGEST_BYTES + 4
    lengths = struct.unpack_from(f"<{2 * count}I", value, start)
    of_keys, of_states = lengths[:count], lengths[count:]
    body = value[start + 8 * count :]
    keys = _split(body, of_keys)
    held = [0 if length == _NONE else length for length in of_states]
    states: list[bytes | None] = list(_split(body[sum(of_keys) :], held))
    for index, length in enumerate(of_states):
        if length == _NONE:
            states[index] = None
    return keys, states


def _split(together: bytes, lengths: Iterable[int]) -> list[bytes]:
    return [together[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]


def _parts(
    records: Sequence[tuple[bytes, bytes | None]],
) -> Iterator[Sequence[tuple[bytes, bytes | None]]]:
    start = size = 0
    for index, (key, state) in enumerate(records):
        size += len(key) + len(state or b"") + 8
        if size >= ENTRY_BYTES_MAX:
            yield records[start : index + 1]
            start, size = index + 1, 0
    if start < len(records):
        yield records[start:]
