"""Which offset each key was last seen at, in a fixed amount of memory.

Open addressing over three flat arrays: 24 bytes for a key of any length, against more than a
hundred in a dict. Keys themselves are not kept, only 128 bits made of them. Whoever fills it
stops when it is full; a key that did not fit is simply unknown, which never loses a record.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from struct import Struct

SLOT_BYTES = 24
LOAD_MAX = 0.75
"""Above this, probes get long: 4 for a new key here, 10 at 0.9."""

_SLOTS_MIN = 7
_SALT = b"\x00"
_DIGEST = Struct("<qq")


def _sip_pair(key: bytes) -> tuple[int, int]:
    """Two 64-bit hashes by the interpreter's own keyed function, in a tenth of a digest's time."""
    return hash(key), hash(key + _SALT)


def _digest_pair(key: bytes) -> tuple[int, int]:
    import hashlib

    first, second = _DIGEST.unpack(hashlib.blake2b(key, digest_size=_DIGEST.size).digest())
    return first, second


HashPair = Callable[[bytes], tuple[int, int]]

# Some builds of the interpreter use a weak hash; nobody's data hangs on that.
hash_pair: HashPair = _sip_pair if sys.hash_info.algorithm.startswith("siphash") else _digest_pair


class KeyMap:
    __slots__ = ("_first", "_next", "_second", "_slots", "capacity", "count")

    def __init__(self, budget_bytes: int, keys_max: int) -> None:
        """Never larger than the budget, nor than so many keys ask for."""
        wanted = min(budget_bytes // SLOT_BYTES, int(keys_max / LOAD_MAX) + _SLOTS_MIN)
        self._slots = _prime_below(max(wanted, _SLOTS_MIN))
        self.capacity = int(self._slots * LOAD_MAX)
        self.count = 0
        empty = bytes(8 * self._slots)
        self._first = array("q", empty)
        self._second = array("q", empty)
        # The offset plus one, so that zero says that the slot is free.
        self._next = array("q", empty)

    @property
    def is_full(self) -> bool:
        return self.count >= self.capacity

    @property
    def size_bytes(self) -> int:
        return self._slots * SLOT_BYTES

    def put(self, key: bytes, offset: int) -> None:
        first, second = hash_pair(key)
        slot = self._find(first, second)
        if not self._next[slot]:
            self.count += 1
            self._first[slot], self._second[slot] = first, second
        self._next[slot] = offset + 1

    def get(self, key: bytes) -> int:
        """-1 for a key that is not here."""
        first, second = hash_pair(key)
        return self._next[self._find(first, second)] - 1

    def _find(self, first: int, second: int) -> int:
        """The slot of the key, or the free one where it belongs."""
        slots, taken = self._slots, self._next
        slot = first % slots
        if not taken[slot] or (self._first[slot] == first and self._second[slot] == second):
            return slot
        # A prime number of slots: every step visits all of them.
        step = 1 + second % (slots - 1)
        while True:
            slot = (slot + step) % slots
            if not taken[slot] or (self._first[slot] == first and self._second[slot] == second):
                return slot


def _prime_below(limit: int) -> int:
    candidate = limit if limit % 2 else limit - 1
    while any(candidate % factor == 0 for factor in range(3, int(candidate**0.5) + 1, 2)):
        candidate -= 2
    return candidate
