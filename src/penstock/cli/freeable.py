"""What could be freed on the disks of a cluster, by topic. Reads alone; the arithmetic is pure.

A topic that deletes by time could keep less: what is older than a time is counted by the offsets at
that time, as a share of its bytes. Whole segments are deleted, so it is about that much.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from penstock.cli.cluster import Cluster, is_internal
from penstock.cli.group.reader import ClusterReader, Offsets
from penstock.cli.leader_call import Place, list_offsets
from penstock.cli.log_dir import LogDir, describe_log_dirs
from penstock.cli.operator.link import Link
from penstock.cli.operator.setting import topic_settings

_LONG_MS: Final = 7 * 86_400_000
"""Of topics that keep everything, what is older than that."""


class TopicUse(NamedTuple):
    topic: str
    size_bytes: int
    """Of all replicas."""
    retention_ms: int | None
    """None: it keeps everything, or by size alone."""
    is_compacted: bool
    groups: int
    """That have read from it."""
    older_ms: int
    freeable_bytes: int
    """Of all replicas, older than that."""

    @property
    def command(self) -> str | None:
        if self.is_compacted or not self.freeable_bytes:
            return None
        return f"penstock configs set topic {self.topic} retention.ms={self.older_ms}"

    def document(self) -> dict[str, Any]:
        return self._asdict() | {"command": self.command}


def read_uses(cluster: Cluster, older_ms: int | None) -> list[TopicUse]:
    """The most that can be freed comes first. Without a time: older than half of what it keeps."""
    link = Link(cluster)
    sizes = sizes_of(describe_log_dirs(cluster, set(), set()))
    topics = sorted({topic for topic, _ in sizes if not is_internal(topic)})
    retention = topic_settings(link, topics, "retention.ms")
    policy = topic_settings(link, topics, "cleanup.policy")
    now_ms = int(time.time() * 1000)
    found = []
    with ClusterReader(link) as reader:
        readers = _readers(reader)
        for topic in topics:
            kept_ms = _known(retention.get(topic, ""))
            limit_ms = older_ms or (kept_ms // 2 if kept_ms is not None else _LONG_MS)
            places = [each for each in sizes if each[0] == topic]
            at = list_offsets(link, reader.leaders, places, now_ms - limit_ms)
            starts, ends = reader.starts(places), reader.ends(places)
            use = TopicUse(
                topic,
                sum(sizes[each] for each in places),
                kept_ms,
                "compact" in policy.get(topic, ""),
                readers.get(topic, 0),
                limit_ms,
                sum(older_bytes(sizes[each], each, starts, ends, at) for each in places),
            )
            found.append(use)
    return sorted(found, key=lambda each: (-each.freeable_bytes, -each.size_bytes, each.topic))


def sizes_of(dirs: list[LogDir]) -> dict[Place, int]:
    """Of all replicas of a partition."""
    found: dict[Place, int] = {}
    for directory in dirs:
        for each in directory.partitions:
            place = (each.topic, each.partition)
            found[place] = found.get(place, 0) + each.size_bytes
    return found


def older_bytes(
    size_bytes: int, place: Place, starts: Offsets, ends: Offsets, at: Mapping[Place, int]
) -> int:
    """-1 says that no record is as new as that: all of them are older."""
    if place not in starts or place not in ends or place not in at:
        return 0
    start, end = starts[place], ends[place]
    until = end if at[place] < 0 else at[place]
    return size_bytes * max(until - start, 0) // (end - start) if end > start else 0


def _readers(reader: ClusterReader) -> dict[str, int]:
    counts: dict[str, int] = {}
    for offsets in reader.committed(reader.listed()).values():
        for topic in {topic for topic, _ in offsets}:
            counts[topic] = counts.get(topic, 0) + 1
    return counts


def _known(retention_ms: str) -> int | None:
    return int(retention_ms) if retention_ms.isdecimal() else None
