"""What was sent and what was acknowledged: the memory that a crash test is judged by.

Every record names its producer and a number that grows by one per producer and partition, so a
record found in a log says by itself who sent it and when. Nothing here knows a broker.
"""

from __future__ import annotations

import threading
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple


class Lane(NamedTuple):
    """One producer's way into one partition: numbers on it start at zero and only grow."""

    producer: str
    topic: str
    partition: int


class Identity(NamedTuple):
    producer: str
    number: int


KEYS_PER_LANE = 40


def payload(lane: Lane, number: int, size: int) -> bytes:
    """The only bytes that this lane can have sent under this number."""
    head = f"{lane.producer} {number} {lane.topic}-{lane.partition} ".encode()
    pattern = f"{zlib.crc32(head):08x}".encode()
    return (head + pattern * (size // len(pattern) + 1))[: max(size, len(head) + len(pattern))]


def key_of(identity: Identity) -> bytes:
    return f"{identity.producer}-{identity.number % KEYS_PER_LANE}".encode()


def parse(value: bytes) -> Identity | None:
    """Who sent this record, or None for bytes that no producer of ours writes."""
    parts = value.split(b" ", 2)
    if len(parts) < 3 or not parts[1].isdigit():
        return None
    return Identity(parts[0].decode(errors="replace"), int(parts[1]))


@dataclass
class Ledger:
    """Filled by producer threads, read once they have ended."""

    sent: Counter[Lane] = field(default_factory=Counter)
    acknowledged: dict[Lane, dict[int, int]] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    fatal: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def send(self, lane: Lane) -> int:
        """The number of the next record, which from now on may be in the log."""
        with self._lock:
            number = self.sent[lane]
            self.sent[lane] += 1
            return number

    def acknowledge(self, lane: Lane, number: int, offset: int) -> None:
        with self._lock:
            self.acknowledged.setdefault(lane, {})[number] = offset

    def fail(self, reason: str) -> None:
        """Not acknowledged: the record may or may not be in the log, once at most."""
        with self._lock:
            self.failures[reason] += 1

    def stop(self, reason: str) -> None:
        """A producer gave up for good, which no crash of the broker may cause."""
        with self._lock:
            self.fatal.append(reason)

    def acknowledged_count(self, topic: str) -> int:
        with self._lock:
            return sum(len(acks) for lane, acks in self.acknowledged.items() if lane.topic == topic)

    def sent_count(self, topic: str) -> int:
        with self._lock:
            return sum(count for lane, count in self.sent.items() if lane.topic == topic)
