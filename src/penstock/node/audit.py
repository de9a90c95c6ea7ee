"""The audit log of a node, where its settings ask for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.node.identity import Identity
from penstock.settings.config import BrokerConfig
from penstock.telemetry.metric import Gauge

if TYPE_CHECKING:
    from penstock.audit.trail import Trail
    from penstock.handlers.broker import Broker
    from penstock.node.audit_sink import Sink
    from penstock.node.audit_writer import AuditWriter
    from penstock.node.topic_writer import Brokers


def new_trail(config: BrokerConfig, identity: Identity, now_ms: int) -> Trail | None:
    if not config.get("penstock.audit.topic.enable") and not config.get("penstock.audit.file"):
        return None
    from penstock.audit.trail import Trail

    return Trail(identity.cluster_id, identity.node_id, now_ms)


class Audit:
    """Nothing at all where the broker keeps no trail."""

    def __init__(self, broker: Broker, brokers: Brokers) -> None:
        self._writer = None if broker.audit is None else _writer(broker, broker.audit, brokers)

    def start(self) -> None:
        if self._writer is not None:
            self._writer.start()

    async def close(self) -> None:
        if self._writer is not None:
            await self._writer.close()

    def gauges(self) -> Sequence[Gauge]:
        writer = self._writer
        if writer is None:
            return ()
        return (
            ("penstock_audit_waiting_lines", "Not written yet", lambda: writer.waiting),
            ("penstock_audit_lost_lines", "Since start: too many waited", lambda: writer.lost),
        )


def _writer(broker: Broker, trail: Trail, brokers: Brokers) -> AuditWriter:
    from penstock.node.audit_sink import FileSink, TopicSink
    from penstock.node.audit_writer import AuditWriter

    sinks: list[Sink] = []
    if path := broker.config.get("penstock.audit.file"):
        sinks.append(FileSink(path))
    if broker.config.get("penstock.audit.topic.enable"):
        sinks.append(TopicSink(broker, brokers))
    return AuditWriter(trail, sinks, broker.clock, lambda: broker.config)
