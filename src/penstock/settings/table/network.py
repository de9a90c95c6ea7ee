"""Broker settings of listeners, connections and requests."""

from __future__ import annotations

from typing import Final

from penstock.settings.check import Filled, HostCounts, at_least
from penstock.settings.key import (
    AT_START,
    CLUSTER_WIDE,
    HIGH,
    INT,
    INT_MAX,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    PER_BROKER,
    READ,
    READ_ONLY,
    STRING,
    UNREAD,
    Row,
)

ROWS: Final[tuple[Row, ...]] = (
    ("advertised.listeners", LIST, None, Filled(), HIGH, READ_ONLY, READ),
    ("connection.failed.authentication.delay.ms", INT, "100", at_least(0), LOW, READ_ONLY, READ),
    ("connections.max.idle.ms", LONG, "600000", None, MEDIUM, READ_ONLY, READ),
    ("connections.max.reauth.ms", LONG, "0", None, MEDIUM, READ_ONLY, READ),
    ("early.start.listeners", LIST, None, None, HIGH, READ_ONLY, READ),
    ("fetch.max.bytes", INT, "57671680", at_least(1024), MEDIUM, READ_ONLY, READ),
    ("fetch.purgatory.purge.interval.requests", INT, "1000", None, MEDIUM, READ_ONLY, UNREAD),
    ("inter.broker.listener.name", STRING, None, None, MEDIUM, READ_ONLY, READ),
    (
        "listener.security.protocol.map",
        STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        None,
        LOW,
        PER_BROKER,
        AT_START,
    ),
    ("listeners", LIST, "PLAINTEXT://:9092", Filled(), HIGH, PER_BROKER, AT_START),
    ("max.connection.creation.rate", INT, INT_MAX, at_least(0), MEDIUM, CLUSTER_WIDE, READ),
    ("max.connections", INT, INT_MAX, at_least(0), MEDIUM, CLUSTER_WIDE, READ),
    ("max.connections.per.ip", INT, INT_MAX, at_least(0), MEDIUM, CLUSTER_WIDE, READ),
    (
        "max.connections.per.ip.overrides",
        STRING,
        "",
        HostCounts(),
        MEDIUM,
        CLUSTER_WIDE,
        READ,
    ),
    (
        "max.incremental.fetch.session.cache.slots",
        INT,
        "1000",
        at_least(0),
        MEDIUM,
        READ_ONLY,
        READ,
    ),
    ("max.request.partition.size.limit", INT, "2000", at_least(1), MEDIUM, READ_ONLY, READ),
    ("num.io.threads", INT, "8", at_least(1), HIGH, CLUSTER_WIDE, UNREAD),
    ("num.network.threads", INT, "3", at_least(1), HIGH, CLUSTER_WIDE, UNREAD),
    ("queued.max.request.bytes", LONG, "-1", None, MEDIUM, READ_ONLY, UNREAD),
    ("queued.max.requests", INT, "500", at_least(1), HIGH, READ_ONLY, UNREAD),
    ("request.timeout.ms", INT, "30000", None, HIGH, READ_ONLY, READ),
    ("socket.connection.setup.timeout.max.ms", LONG, "30000", None, MEDIUM, READ_ONLY, UNREAD),
    ("socket.connection.setup.timeout.ms", LONG, "10000", None, MEDIUM, READ_ONLY, UNREAD),
    ("socket.listen.backlog.size", INT, "50", at_least(1), MEDIUM, READ_ONLY, UNREAD),
    ("socket.receive.buffer.bytes", INT, "102400", None, HIGH, READ_ONLY, UNREAD),
    ("socket.request.max.bytes", INT, "104857600", at_least(1), HIGH, READ_ONLY, READ),
    ("socket.send.buffer.bytes", INT, "102400", None, HIGH, READ_ONLY, UNREAD),
)
