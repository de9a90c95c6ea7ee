"""The topics a crash test loads, each with settings that put another part of the log at risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tools.durability.checker import Cleanup

PARTITIONS: Final = 3
_NEVER: Final = "9223372036854775807"
# The smallest segment that Apache Kafka 4 accepts.
_SMALL_SEGMENT: Final = {"segment.bytes": "1048576", "index.interval.bytes": "1024"}


@dataclass(frozen=True)
class LoadedTopic:
    name: str
    purpose: str
    settings: Mapping[str, str] = field(default_factory=dict)
    cleanup: Cleanup = Cleanup.NOTHING
    record_bytes: int = 300
    partitions: int = PARTITIONS


TOPICS: Final = (
    LoadedTopic("steady", "default settings: an acknowledgement waits for the disk"),
    LoadedTopic(
        "rolling",
        "small segments that roll meanwhile",
        _SMALL_SEGMENT,
        record_bytes=2000,
        partitions=2,
    ),
    LoadedTopic(
        "flushless",
        "flush left to the operating system, as in Apache Kafka",
        {"flush.messages": _NEVER, "flush.ms": _NEVER},
    ),
    LoadedTopic(
        "retained",
        "retention deletes old segments meanwhile",
        {**_SMALL_SEGMENT, "retention.bytes": "2097152", "file.delete.delay.ms": "100"},
        Cleanup.OLD_SEGMENTS,
        record_bytes=2000,
        partitions=1,
    ),
    LoadedTopic(
        "compacted",
        "compaction rewrites segments meanwhile",
        {
            **_SMALL_SEGMENT,
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.01",
            "file.delete.delay.ms": "100",
        },
        Cleanup.OLDER_VALUES,
        record_bytes=2000,
        partitions=1,
    ),
)

# Both brokers know these: retention and compaction must happen within seconds to be at risk.
BROKER_SETTINGS: Final = {
    "log.retention.check.interval.ms": "300",
    "log.cleaner.backoff.ms": "300",
    "log.segment.delete.delay.ms": "100",
}
# Apache Kafka otherwise waits half a minute before its first look.
KAFKA_SETTINGS: Final = {**BROKER_SETTINGS, "log.initial.task.delay.ms": "300"}
