"""Broker settings of topics, quotas, metrics and background work."""

from __future__ import annotations

from typing import Final

from penstock.settings.check import at_least, entry_point
from penstock.settings.key import (
    AT_START,
    BOOLEAN,
    CLASS,
    CLUSTER_WIDE,
    HIGH,
    INT,
    LIST,
    LONG,
    LONG_MAX,
    LOW,
    MEDIUM,
    PROMISE,
    READ,
    READ_ONLY,
    STRING,
    UNREAD,
    Row,
)

ROWS: Final[tuple[Row, ...]] = (
    ("alter.config.policy.class.name", CLASS, None, entry_point, LOW, READ_ONLY, READ),
    ("auto.create.topics.enable", BOOLEAN, "true", None, HIGH, READ_ONLY, READ),
    ("background.threads", INT, "10", at_least(1), HIGH, CLUSTER_WIDE, UNREAD),
    ("client.quota.callback.class", CLASS, None, None, LOW, READ_ONLY, PROMISE),
    ("config.providers", LIST, "", None, LOW, CLUSTER_WIDE, AT_START),
    ("create.topic.policy.class.name", CLASS, None, entry_point, LOW, READ_ONLY, READ),
    ("delete.records.purgatory.purge.interval.requests", INT, "1", None, MEDIUM, READ_ONLY, UNREAD),
    ("delete.topic.enable", BOOLEAN, "true", None, HIGH, READ_ONLY, READ),
    ("kafka.metrics.polling.interval.secs", INT, "10", at_least(1), LOW, READ_ONLY, UNREAD),
    ("kafka.metrics.reporters", LIST, "", None, LOW, READ_ONLY, PROMISE),
    (
        "metric.reporters",
        LIST,
        "org.apache.kafka.common.metrics.JmxReporter",
        None,
        LOW,
        CLUSTER_WIDE,
        PROMISE,
    ),
    ("metrics.num.samples", INT, "2", at_least(1), LOW, READ_ONLY, UNREAD),
    ("metrics.recording.level", STRING, "INFO", None, LOW, READ_ONLY, UNREAD),
    ("metrics.sample.window.ms", LONG, "30000", at_least(1), LOW, READ_ONLY, UNREAD),
    ("num.partitions", INT, "3", at_least(1), MEDIUM, READ_ONLY, READ),
    ("num.recovery.threads.per.data.dir", INT, "2", at_least(1), HIGH, CLUSTER_WIDE, UNREAD),
    ("producer.purgatory.purge.interval.requests", INT, "1000", None, MEDIUM, READ_ONLY, UNREAD),
    ("quota.window.num", INT, "11", at_least(1), LOW, READ_ONLY, READ),
    ("quota.window.size.seconds", INT, "1", at_least(1), LOW, READ_ONLY, READ),
    ("telemetry.max.bytes", INT, "1048576", at_least(1), LOW, READ_ONLY, UNREAD),
)

DYNAMIC_ROWS: Final[tuple[Row, ...]] = (
    (
        "follower.replication.throttled.rate",
        LONG,
        LONG_MAX,
        at_least(0),
        MEDIUM,
        CLUSTER_WIDE,
        READ,
    ),
    (
        "leader.replication.throttled.rate",
        LONG,
        LONG_MAX,
        at_least(0),
        MEDIUM,
        CLUSTER_WIDE,
        READ,
    ),
    (
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        LONG_MAX,
        at_least(0),
        MEDIUM,
        CLUSTER_WIDE,
        READ,
    ),
)
