"""Settings that a group may carry itself: the config APIs know them under the resource type GROUP.

Each but a few of share groups falls back to the broker setting of the same name with `group.` in
front of it.
"""

from __future__ import annotations

from typing import Final

from penstock.settings.check import OffsetReset, at_least, one_of
from penstock.settings.key import (
    BOOLEAN,
    CLUSTER_WIDE,
    INT,
    MEDIUM,
    READ,
    STRING,
    Row,
)

ROWS: Final[tuple[Row, ...]] = (
    ("consumer.session.timeout.ms", INT, "45000", at_least(1), MEDIUM, CLUSTER_WIDE, READ),
    ("consumer.heartbeat.interval.ms", INT, "5000", at_least(1), MEDIUM, CLUSTER_WIDE, READ),
    ("consumer.assignment.interval.ms", INT, "1000", at_least(0), MEDIUM, CLUSTER_WIDE, READ),
    ("share.session.timeout.ms", INT, "45000", at_least(1), MEDIUM, CLUSTER_WIDE, READ),
    ("share.heartbeat.interval.ms", INT, "5000", at_least(1), MEDIUM, CLUSTER_WIDE, READ),
    ("share.record.lock.duration.ms", INT, "30000", at_least(1000), MEDIUM, CLUSTER_WIDE, READ),
    ("share.delivery.count.limit", INT, "5", at_least(2), MEDIUM, CLUSTER_WIDE, READ),
    ("share.partition.max.record.locks", INT, "2000", at_least(100), MEDIUM, CLUSTER_WIDE, READ),
    ("share.auto.offset.reset", STRING, "latest", OffsetReset(), MEDIUM, CLUSTER_WIDE, READ),
    (
        "share.isolation.level",
        STRING,
        "read_uncommitted",
        one_of("read_committed", "read_uncommitted"),
        MEDIUM,
        CLUSTER_WIDE,
        READ,
    ),
    ("share.renew.acknowledge.enable", BOOLEAN, "true", None, MEDIUM, CLUSTER_WIDE, READ),
    ("share.assignment.interval.ms", INT, "1000", at_least(0), MEDIUM, CLUSTER_WIDE, READ),
    ("streams.session.timeout.ms", INT, "45000", at_least(1), MEDIUM, CLUSTER_WIDE, READ),
    ("streams.heartbeat.interval.ms", INT, "5000", at_least(1), MEDIUM, CLUSTER_WIDE, READ),
    ("streams.num.standby.replicas", INT, "0", at_least(0), MEDIUM, CLUSTER_WIDE, READ),
    ("streams.initial.rebalance.delay.ms", INT, "3000", at_least(0), MEDIUM, CLUSTER_WIDE, READ),
    ("streams.assignment.interval.ms", INT, "1000", at_least(0), MEDIUM, CLUSTER_WIDE, READ),
)
