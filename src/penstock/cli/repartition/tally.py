"""Whether two topics hold the same records, in the same order for each key. Pure.

Of each key a number, a digest of its records in their order, and one of the last are kept: some
hundred bytes, whatever the records are. Of records without keys only which ones counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

Headers = Sequence[tuple[str, bytes | None]]
_MASK = (1 << 64) - 1


class KeyTrack(NamedTuple):
    number: int
    chain: bytes
    """Changes with the order."""
    total: int
    """Does not."""
    last: bytes
    is_deleted: bool
    """The last one is a tombstone."""
    partition: int
    """-1 if it was seen in several."""


class Tally:
    def __init__(self) -> None:
        self.keys: dict[bytes, KeyTrack] = {}
        self.unkeyed = 0
        self.unkeyed_total = 0
        self.records = 0

    def add(self, partition: int, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        self.records += 1
        digest = _digest(key, value, headers)
        mixed = int.from_bytes(digest, "big")
        if key is None:
            self.unkeyed += 1
            self.unkeyed_total = (self.unkeyed_total + mixed) & _MASK
            return
        before = self.keys.get(key) or KeyTrack(0, b"", 0, b"", False, partition)
        self.keys[key] = KeyTrack(
            before.number + 1,
            blake2b(before.chain + digest, digest_size=8).digest(),
            (before.total + mixed) & _MASK,
            digest,
            value is None,
            partition if before.partition == partition else -1,
        )


def _digest(key: bytes | None, value: bytes | None, headers: Headers) -> bytes:
    parts = [key, value]
    for name, content in headers:
        parts += [name.encode(), content]
    # Lengths come along: neighbours do not run into each other.
    text = b"".join(b"-" if each is None else b"%d:%b" % (len(each), each) for each in parts)
    return blake2b(text, digest_size=8).digest()


def differences(
    source: Tally, target: Tally, *, is_compacted: bool, has_lost_head: bool
) -> list[str]:
    """What is wrong with the copy. `has_lost_head`: retention took records from the source since
    they were copied, so the copy may have more."""
    found = []
    for key, was in source.keys.items():
        now = target.keys.get(key)
        wrong = (
            _missing(was, is_compacted)
            if now is None
            else _wrong(was, now, is_compacted, has_lost_head)
        )
        if wrong:
            found.append(f"key {key!r}: {wrong}")
    if not has_lost_head and not is_compacted:
        more = [key for key in target.keys if key not in source.keys]
        found += [f"key {key!r}: only in the copy" for key in more]
    same = (source.unkeyed, source.unkeyed_total) == (target.unkeyed, target.unkeyed_total)
    if not same and not (has_lost_head and target.unkeyed >= source.unkeyed):
        found.append(f"{source.unkeyed} records without keys, in the copy {target.unkeyed}")
    return found


def _missing(was: KeyTrack, is_compacted: bool) -> str:
    return "" if is_compacted and was.is_deleted else "not in the copy"


def _wrong(was: KeyTrack, now: KeyTrack, is_compacted: bool, has_lost_head: bool) -> str:
    if is_compacted:
        return "" if was.last == now.last else "its last value is another one"
    if now.number < was.number or (now.number > was.number and not has_lost_head):
        return f"{was.number} records, in the copy {now.number}"
    if now.number > was.number:
        return "" if was.last == now.last or was.partition < 0 else "its last record is another one"
    if was.partition < 0:
        # In several partitions of the old topic: there was no order to keep.
        return "" if was.total == now.total else "other records"
    return "" if was.chain == now.chain else "other records, or another order"
