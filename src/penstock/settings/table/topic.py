"""Settings that a topic may carry itself."""

from __future__ import annotations

from typing import Final

from penstock.settings.check import ReplicaList, at_least, between, one_of
from penstock.settings.key import (
    BOOLEAN,
    CLUSTER_WIDE,
    DOUBLE,
    INT,
    LIST,
    LONG,
    LONG_MAX,
    MEDIUM,
    STRING,
    Row,
)

ROWS: Final[tuple[Row, ...]] = (
    ("cleanup.policy", LIST, "delete", one_of("compact", "delete"), MEDIUM, CLUSTER_WIDE, True),
    ("compression.gzip.level", INT, "-1", between(1, 9, -1), MEDIUM, CLUSTER_WIDE, True),
    ("compression.lz4.level", INT, "9", between(1, 17), MEDIUM, CLUSTER_WIDE, True),
    (
        "compression.type",
        STRING,
        "producer",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        MEDIUM,
        CLUSTER_WIDE,
        True,
    ),
    ("compression.zstd.level", INT, "3", between(-131072, 22), MEDIUM, CLUSTER_WIDE, True),
    ("delete.retention.ms", LONG, "86400000", at_least(0), MEDIUM, CLUSTER_WIDE, True),
    ("file.delete.delay.ms", LONG, "60000", at_least(0), MEDIUM, CLUSTER_WIDE, True),
    ("flush.messages", LONG, "1", at_least(1), MEDIUM, CLUSTER_WIDE, True),
    ("flush.ms", LONG, LONG_MAX, at_least(0), MEDIUM, CLUSTER_WIDE, True),
    (
        "follower.replication.throttled.replicas",
        LIST,
        "",
        ReplicaList(),
        MEDIUM,
        CLUSTER_WIDE,
        False,
    ),
    ("index.interval.bytes", INT, "4096", at_least(0), MEDIUM, CLUSTER_WIDE, True),
    ("leader.replication.throttled.replicas", LIST, "", ReplicaList(), MEDIUM, CLUSTER_WIDE, False),
    ("local.retention.bytes", LONG, "-2", at_least(-2), MEDIUM, CLUSTER_WIDE, False),
    ("local.retention.ms", LONG, "-2", at_least(-2), MEDIUM, CLUSTER_WIDE, False),
    ("max.compaction.lag.ms", LONG, LONG_MAX, at_least(1), MEDIUM, CLUSTER_WIDE, True),
    ("max.message.bytes", INT, "1048588", at_least(0), MEDIUM, CLUSTER_WIDE, True),
    ("message.timestamp.after.max.ms", LONG, "3600000", at_least(0), MEDIUM, CLUSTER_WIDE, True),
    ("message.timestamp.before.max.ms", LONG, LONG_MAX, at_least(0), MEDIUM, CLUSTER_WIDE, True),
    (
        "message.timestamp.type",
        STRING,
        "CreateTime",
        one_of("CreateTime", "LogAppendTime"),
        MEDIUM,
        CLUSTER_WIDE,
        True,
    ),
    ("min.cleanable.dirty.ratio", DOUBLE, "0.5", between(0, 1), MEDIUM, CLUSTER_WIDE, True),
    ("min.compaction.lag.ms", LONG, "0", at_least(0), MEDIUM, CLUSTER_WIDE, True),
    ("min.insync.replicas", INT, "1", at_least(1), MEDIUM, CLUSTER_WIDE, True),
    ("preallocate", BOOLEAN, "false", None, MEDIUM, CLUSTER_WIDE, False),
    ("remote.log.copy.disable", BOOLEAN, "false", None, MEDIUM, CLUSTER_WIDE, False),
    ("remote.log.delete.on.disable", BOOLEAN, "false", None, MEDIUM, CLUSTER_WIDE, False),
    ("remote.storage.enable", BOOLEAN, "false", None, MEDIUM, CLUSTER_WIDE, False),
    ("retention.bytes", LONG, "-1", None, MEDIUM, CLUSTER_WIDE, True),
    ("retention.ms", LONG, "604800000", at_least(-1), MEDIUM, CLUSTER_WIDE, True),
    ("segment.bytes", INT, "1073741824", at_least(1048576), MEDIUM, CLUSTER_WIDE, True),
    ("segment.index.bytes", INT, "10485760", at_least(4), MEDIUM, CLUSTER_WIDE, True),
    ("segment.jitter.ms", LONG, "0", at_least(0), MEDIUM, CLUSTER_WIDE, True),
    ("segment.ms", LONG, "604800000", at_least(1), MEDIUM, CLUSTER_WIDE, True),
    ("unclean.leader.election.enable", BOOLEAN, "false", None, MEDIUM, CLUSTER_WIDE, False),
)
