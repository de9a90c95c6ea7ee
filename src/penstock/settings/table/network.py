"""Broker settings of listeners, connections and requests."""

from __future__ import annotations

from typing import Final

from penstock.settings.check import at_least
from penstock.settings.key import (
    CLUSTER_WIDE,
    HIGH,
    INT,
    INT_MAX,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    PER_BROKER,
    READ_ONLY,
    STRING,
    Row,
)

ROWS: Final[tuple[Row, ...]] = (
    ("advertised.listeners", LIST, None, None, HIGH, READ_ONLY, True),
    ("connection.failed.authentication.delay.ms", INT, "100", at_least(0), LOW, READ_ONLY, False),
    ("connections.max.idle.ms", LONG, "600000", None, MEDIUM, READ_ONLY, True),
    ("connections.max.reauth.ms", LONG, "0", None, MEDIUM, READ_ONLY, False),
    ("early.start.listeners", LIST, None, None, HIGH, READ_ONLY, False),
    ("fetch.max.bytes", INT, "57671680", at_least(1024), MEDIUM, READ_ONLY, True),
    ("fetch.purgatory.purge.interval.requests", INT, "1000", None, MEDIUM, READ_ONLY, False),
    ("inter.broker.listener.name", STRING, None, None, MEDIUM, READ_ONLY, False),
    (
        "listener.security.protocol.map",
        STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        None,
        LOW,
        PER_BROKER,
        False,
    ),
    ("listeners", LIST, "PLAINTEXT://:9092", None, HIGH, PER_BROKER, True),
    ("max.connection.creation.rate", INT, INT_MAX, at_least(0), MEDIUM, CLUSTER_WIDE, False),
    ("max.connections", INT, INT_MAX, at_least(0), MEDIUM, CLUSTER_WIDE, True),
    ("max.connections.per.ip", INT, INT_MAX, at_least(0), MEDIUM, CLUSTER_WIDE, False),
    ("max.connections.per.ip.overrides", STRING, "", None, MEDIUM, CLUSTER_WIDE, False),
    (
        "max.incremental.fetch.session.cache.slots",
        INT,
        "1000",
        at_least(0),
        MEDIUM,
        READ_ONLY,
        True,
    ),
    ("max.request.partition.size.limit", INT, "2000", at_least(1), MEDIUM, READ_ONLY, False),
    ("num.io.threads", INT, "8", at_least(1), HIGH, CLUSTER_WIDE, False),
    ("num.network.threads", INT, "3", at_least(1), HIGH, CLUSTER_WIDE, False),
    ("queued.max.request.bytes", LONG, "-1", None, MEDIUM, READ_ONLY, False),
    ("queued.max.requests", INT, "500", at_least(1), HIGH, READ_ONLY, False),
    ("request.timeout.ms", INT, "30000", None, HIGH, READ_ONLY, False),
    ("socket.connection.setup.timeout.max.ms", LONG, "30000", None, MEDIUM, READ_ONLY, False),
    ("socket.connection.setup.timeout.ms", LONG, "10000", None, MEDIUM, READ_ONLY, False),
    ("socket.listen.backlog.size", INT, "50", at_least(1), MEDIUM, READ_ONLY, True),
    ("socket.receive.buffer.bytes", INT, "102400", None, HIGH, READ_ONLY, True),
    ("socket.request.max.bytes", INT, "104857600", at_least(1), HIGH, READ_ONLY, True),
    ("socket.send.buffer.bytes", INT, "102400", None, HIGH, READ_ONLY, True),
)
