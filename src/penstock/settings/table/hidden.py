"""Settings that are accepted but never described, as with Kafka: they serve tests and tuning."""

from __future__ import annotations

from typing import Final

from penstock.settings.check import Range, at_least
from penstock.settings.key import (
    BOOLEAN,
    CLUSTER_WIDE,
    DOUBLE,
    INT,
    LONG,
    LONG_MAX,
    LOW,
    MEDIUM,
    READ,
    READ_ONLY,
    STRING,
    UNREAD,
    Row,
)


def _row(
    name: str, kind: int, default: str | None, low: int | None = None, effect: str = UNREAD
) -> Row:
    return name, kind, default, None if low is None else at_least(low), LOW, READ_ONLY, effect


ROWS: Final[tuple[Row, ...]] = (
    _row("controller.performance.always.log.threshold.ms", LONG, "2000", 0),
    _row("controller.performance.sample.period.ms", LONG, "60000", 100),
    _row("group.consumer.regex.refresh.interval.ms", INT, "600000", 10_000),
    _row("group.share.initialize.retry.interval.ms", INT, "30000", 1),
    _row("group.share.persister.class.name", STRING, None),
    _row("internal.metadata.delete.delay.millis", LONG, "60000"),
    _row("internal.metadata.log.segment.bytes", INT, None),
    _row("internal.metadata.max.batch.size.in.bytes", INT, "8388608"),
    _row("log.initial.task.delay.ms", LONG, "30000", 0),
    _row("producer.id.expiration.check.interval.ms", INT, "600000", 1, READ),
    _row("remote.log.index.file.cache.ttl.ms", LONG, "900000", -1),
    _row("remote.log.manager.task.retry.backoff.max.ms", LONG, "30000", 1),
    _row("remote.log.manager.task.retry.backoff.ms", LONG, "500", 1),
    (
        "remote.log.manager.task.retry.jitter",
        DOUBLE,
        "0.2",
        Range(0, 0.5),
        LOW,
        READ_ONLY,
        UNREAD,
    ),
    _row("server.max.startup.time.ms", LONG, LONG_MAX, 0),
    _row("share.coordinator.cold.partition.snapshot.interval.ms", INT, "300000", 1, READ),
    _row("share.coordinator.state.topic.prune.interval.ms", INT, "300000", 1),
    _row("unclean.leader.election.interval.ms", LONG, "300000", 1, READ),
    _row("unstable.api.versions.enable", BOOLEAN, "false"),
    _row("unstable.feature.versions.enable", BOOLEAN, "false"),
)

TOPIC_ROWS: Final[tuple[Row, ...]] = (
    # Takes sizes below the lower bound of segment.bytes, and wins over it.
    ("internal.segment.bytes", INT, None, at_least(1), MEDIUM, CLUSTER_WIDE, READ),
)
