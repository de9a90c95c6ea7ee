"""Which brokers take no new replicas, as any client of Kafka's says it (KIP-1066)."""

from __future__ import annotations

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

CORDONED = "cordoned.log.dirs"


def set_cordon(servers: str, broker: int, value: str | None) -> None:
    """Asked of the broker itself, which alone knows its directories; None takes it away."""
    kind = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    entry = ConfigEntry(CORDONED, value or "", incremental_operation=kind)
    resource = ConfigResource(ResourceType.BROKER, str(broker), incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": servers})
    (future,) = admin.incremental_alter_configs([resource]).values()
    future.result(60)
