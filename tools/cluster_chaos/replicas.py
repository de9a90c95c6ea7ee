"""Whether all replicas of a partition hold the same bytes, from their first batch to their last.

Looks at the files of nodes that nobody writes to any more. Where segments begin is each replica's
own affair; what stands in them is not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from penstock.model.id import TopicPartition
from penstock.testing.cluster_view import PartitionView

_BATCH_HEAD = 12
"""Its first offset, and how many bytes follow."""


def differences(
    directories: Mapping[int, Path],
    partitions: Mapping[TopicPartition, PartitionView],
    timeout_s: float = 60.0,
) -> list[str]:
    """The last answers of a leader may still be on their way, so it looks again for a while."""
    deadline = time.monotonic() + timeout_s
    while True:
        found = [
            problem
            for where, view in partitions.items()
            for problem in _differences(directories, where, view)
        ]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.5)


def _differences(
    directories: Mapping[int, Path], where: TopicPartition, view: PartitionView
) -> Iterator[str]:
    name = f"{where.topic}-{where.partition}"
    first, *others = view.replicas
    expected = log_bytes(directories[first] / name)
    for number in others:
        held = log_bytes(directories[number] / name)
        if held != expected:
            detail = _first_difference(expected, held)
            yield f"{name}: nodes {first} and {number} differ: {detail}"


def log_bytes(partition: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(partition.glob("*.log")))


def _first_difference(one: bytes, other: bytes) -> str:
    """At the batch in which it is."""
    at = 0
    while at + _BATCH_HEAD <= min(len(one), len(other)):
        size = _BATCH_HEAD + int.from_bytes(one[at + 8 : at + 12])
        if one[at : at + size] != other[at : at + size]:
            offset = int.from_bytes(one[at : at + 8])
            return f"at the batch of offset {offset}, byte {at}"
        at += size
    return f"{len(one)} and {len(other)} bytes, equal up to byte {at}"
