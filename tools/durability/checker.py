"""Holds a partition, as read back, against the ledger of what was sent and acknowledged.

Pure: it is given what was found and returns what is wrong with it. It never asks a broker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from tools.durability.ledger import Identity, Lane, Ledger, key_of, parse, payload


class Cleanup(Enum):
    """What the topic's settings let the broker remove."""

    NOTHING = "nothing"
    OLD_SEGMENTS = "old segments"
    OLDER_VALUES = "older values of a key"


class Found(NamedTuple):
    offset: int
    key: bytes | None
    value: bytes


@dataclass(frozen=True)
class Reading:
    """A whole partition: its half-open range of offsets and every record served from it."""

    topic: str
    partition: int
    start: int
    end: int
    records: Sequence[Found]


class Violation(NamedTuple):
    kind: str
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.detail}"


def check(reading: Reading, ledger: Ledger, cleanup: Cleanup) -> list[Violation]:
    where = f"{reading.topic}-{reading.partition}"
    problems = [
        *_check_offsets(reading, cleanup),
        *_check_contents(reading, ledger),
        *_check_repeats(reading),
        *_check_order(reading),
        *_check_acknowledged(reading, ledger, cleanup),
    ]
    return [Violation(kind, where, detail) for kind, detail in problems]


Problem = tuple[str, str]


def _identities(reading: Reading) -> Iterator[tuple[Found, Identity]]:
    for found in reading.records:
        identity = parse(found.value)
        if identity is not None:
            yield found, identity


def _check_offsets(reading: Reading, cleanup: Cleanup) -> Iterator[Problem]:
    expected = reading.start
    for found in reading.records:
        if found.offset < expected:
            yield "gap", f"offset {found.offset} after {expected - 1}: offsets must grow"
        elif found.offset > expected and cleanup is not Cleanup.OLDER_VALUES:
            yield "gap", f"offsets {expected} to {found.offset - 1} are missing"
        expected = found.offset + 1
    if cleanup is not Cleanup.OLDER_VALUES and expected != reading.end:
        yield "gap", f"the last record ends at {expected}, the log at {reading.end}"


def _check_contents(reading: Reading, ledger: Ledger) -> Iterator[Problem]:
    for found in reading.records:
        identity = parse(found.value)
        if identity is None:
            yield "foreign", f"offset {found.offset} holds bytes nobody sent"
            continue
        lane = Lane(identity.producer, reading.topic, reading.partition)
        if identity.number >= ledger.sent[lane]:
            yield "foreign", f"offset {found.offset} holds {identity}, which was never sent"
        elif found.value != payload(lane, identity.number, len(found.value)):
            yield "foreign", f"offset {found.offset} holds {identity} with other bytes than sent"


def _check_repeats(reading: Reading) -> Iterator[Problem]:
    seen: dict[Identity, int] = {}
    for found, identity in _identities(reading):
        first = seen.setdefault(identity, found.offset)
        if first != found.offset:
            yield "duplicated", f"{identity} at offsets {first} and {found.offset}"


def _check_order(reading: Reading) -> Iterator[Problem]:
    latest: dict[str, int] = {}
    for found, identity in _identities(reading):
        before = latest.get(identity.producer, -1)
        if identity.number < before:
            yield "reordered", f"{identity} at offset {found.offset} comes after number {before}"
        latest[identity.producer] = max(before, identity.number)


def _check_acknowledged(reading: Reading, ledger: Ledger, cleanup: Cleanup) -> Iterator[Problem]:
    offsets = {identity: found.offset for found, identity in _identities(reading)}
    newest = {found.key: found.offset for found in reading.records}
    for lane, acks in ledger.acknowledged.items():
        if (lane.topic, lane.partition) != (reading.topic, reading.partition):
            continue
        for number, offset in acks.items():
            identity = Identity(lane.producer, number)
            at = offsets.get(identity)
            if at is not None and offset >= 0 and at != offset:
                yield "misplaced", f"{identity} was acknowledged at {offset}, found at {at}"
            elif at is None and not _may_be_gone(reading, identity, offset, newest, cleanup):
                yield "lost", f"{identity} was acknowledged at offset {offset}"


def _may_be_gone(
    reading: Reading,
    identity: Identity,
    offset: int,
    newest: dict[bytes | None, int],
    cleanup: Cleanup,
) -> bool:
    if cleanup is Cleanup.OLD_SEGMENTS:
        return offset < reading.start
    if cleanup is Cleanup.OLDER_VALUES:
        return newest.get(key_of(identity), -1) > offset
    return False
