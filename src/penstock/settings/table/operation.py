"""Broker settings of topics, quotas, metrics and background work."""

from __future__ import annotations

from typing import Final

from penstock.settings.check import at_least
from penstock.settings.key import (
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
    READ_ONLY,
    STRING,
    Row,
)

ROWS: Final[tuple[Row, ...]] = (
    ("alter.config.policy.class.name", CLASS, None, None, LOW, READ_ONLY, False),
    ("auto.create.topics.enable", BOOLEAN, "true", None, HIGH, READ_ONLY, True),
    ("background.threads", INT, "10", at_least(1), HIGH, CLUSTER_WIDE, False),
    ("client.quota.callback.class", CLASS, None, None, LOW, READ_ONLY, False),
    ("config.providers", LIST, "", None, LOW, CLUSTER_WIDE, False),
    ("create.topic.policy.class.name", CLASS, None, None, LOW, READ_ONLY, False),
    ("delete.records.purgatory.purge.interval.requests", INT, "1", None, MEDIUM, READ_ONLY, False),
    ("delete.topic.enable", BOOLEAN, "true", None, HIGH, READ_ONLY, True),
    ("kafka.metrics.polling.interval.secs", INT, "10", at_least(1), LOW, READ_ONLY, False),
    ("kafka.metrics.reporters", LIST, "", None, LOW, READ_ONLY, False),
    (
        "metric.reporters",
        LIST,
        "org.apache.kafka.common.metrics.JmxReporter",
        None,
        LOW,
        CLUSTER_WIDE,
        False,
    ),
    ("metrics.num.samples", INT, "2", at_least(1), LOW, READ_ONLY, False),
    ("metrics.recording.level", STRING, "INFO", None, LOW, READ_ONLY, False),
    ("metrics.sample.window.ms", LONG, "30000", at_least(1), LOW, READ_ONLY, False),
    ("num.partitions", INT, "3", at_least(1), MEDIUM, READ_ONLY, True),
    ("num.recovery.threads.per.data.dir", INT, "2", at_least(1), HIGH, CLUSTER_WIDE, False),
    ("producer.purgatory.purge.interval.requests", INT, "1000", None, MEDIUM, READ_ONLY, False),
    ("quota.window.num", INT, "11", at_least(1), LOW, READ_ONLY, False),
    ("quota.window.size.seconds", INT, "1", at_least(1), LOW, READ_ONLY, False),
    ("telemetry.max.bytes", INT, "1048576", at_least(1), LOW, READ_ONLY, False),
)

DYNAMIC_ROWS: Final[tuple[Row, ...]] = (
    (
        "follower.replication.throttled.rate",
        LONG,
        LONG_MAX,
        at_least(0),
        MEDIUM,
        CLUSTER_WIDE,
        False,
    ),
    ("leader.replication.throttled.rate", LONG, LONG_MAX, at_least(0), MEDIUM, CLUSTER_WIDE, False),
    (
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        LONG_MAX,
        at_least(0),
        MEDIUM,
        CLUSTER_WIDE,
        False,
    ),
)
