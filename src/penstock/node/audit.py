"""The audit log of a node, where its settings ask for one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from penstock.node.identity import Identity
from penstock.settings.config import BrokerConfig

if TYPE_CHECKING:
    from penstock.audit.trail import Trail
    from penstock.handlers.broker import Broker
    from penstock.node.audit_sink import Brokers, Sink
    from penstock.node.audit_writer import AuditWriter


def new_trail(config: BrokerConfig, identity: Identity, now_ms: int) -> Trail | None:
    if not config.get("penstock.audit.topic.enable") and not config.get("penstock.audit.file"):
        return None
    from penstock.audit.trail import Trail

    return Trail(identity.cluster_id, identity.node_id, now_ms)


def new_writer(broker: Broker, brokers: Brokers) -> AuditWriter | None:
    if broker.audit is None:
        return None
    from penstock.node.audit_sink import FileSink, TopicSink
    from penstock.node.audit_writer import AuditWriter

    sinks: list[Sink] = []
    if path := broker.config.get("penstock.audit.file"):
        sinks.append(FileSink(Path(path)))
    if broker.config.get("penstock.audit.topic.enable"):
        sinks.append(
            TopicSink(
                broker.node_id,
                broker.config,
                broker.clock,
                broker.image,
                broker.partitions,
                broker.controller,
                brokers,
            )
        )
    return AuditWriter(broker.audit, sinks, broker.clock, lambda: broker.config)
