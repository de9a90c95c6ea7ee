"""Settings that only Penstock has; all of them begin with `penstock.`."""

from __future__ import annotations

from typing import Final

from penstock.settings.check import at_least, one_of
from penstock.settings.key import (
    BOOLEAN,
    CLUSTER_WIDE,
    INT,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    PASSWORD,
    READ,
    READ_ONLY,
    SHORT,
    STRING,
    Row,
)

ROWS: Final[tuple[Row, ...]] = (
    ("penstock.audit.file", STRING, "", None, MEDIUM, READ_ONLY, READ),
    ("penstock.audit.interval.ms", LONG, "60000", at_least(1000), LOW, CLUSTER_WIDE, READ),
    ("penstock.audit.topic.enable", BOOLEAN, "false", None, MEDIUM, READ_ONLY, READ),
    (
        "penstock.audit.topic.replication.factor",
        SHORT,
        "3",
        at_least(1),
        LOW,
        READ_ONLY,
        READ,
    ),
    (
        "penstock.audit.topic.retention.ms",
        LONG,
        "7776000000",
        at_least(-1),
        LOW,
        READ_ONLY,
        READ,
    ),
    (
        "penstock.memory.request.bytes",
        LONG,
        "67108864",
        at_least(1048576),
        MEDIUM,
        READ_ONLY,
        READ,
    ),
    ("penstock.metrics.tls.enable", BOOLEAN, "false", None, LOW, READ_ONLY, READ),
    ("penstock.metrics.token", PASSWORD, None, None, LOW, READ_ONLY, READ),
    ("penstock.open.files.max", INT, "512", at_least(16), MEDIUM, READ_ONLY, READ),
    (
        "penstock.record.check",
        STRING,
        "quick",
        one_of("quick", "always", "never"),
        MEDIUM,
        CLUSTER_WIDE,
        READ,
    ),
    ("penstock.request.elements.max", INT, "120000", at_least(1000), MEDIUM, READ_ONLY, READ),
    (
        "penstock.sasl.plain.unencrypted.listeners",
        LIST,
        "",
        None,
        LOW,
        READ_ONLY,
        READ,
    ),
    ("penstock.scram.decoy.secret", PASSWORD, None, None, LOW, CLUSTER_WIDE, READ),
    ("penstock.scrub.interval.ms", LONG, "604800000", at_least(-1), LOW, CLUSTER_WIDE, READ),
)
