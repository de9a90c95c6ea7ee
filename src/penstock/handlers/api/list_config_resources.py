"""ListConfigResources: what has settings, by kind (KIP-1142)."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.metadata.config import ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

SUPPORTED = (
    ResourceType.TOPIC,
    ResourceType.BROKER,
    ResourceType.BROKER_LOGGER,
    ResourceType.CLIENT_METRICS,
    ResourceType.GROUP,
)


def handle(broker: Broker, request: ListConfigResourcesRequest, call: Call) -> Answer:
    if call.version == 0:
        asked = {int(ResourceType.CLIENT_METRICS)}
    else:
        asked = set(request.resource_types) or {int(kind) for kind in SUPPORTED}
    if not asked <= {int(kind) for kind in SUPPORTED}:
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in sorted(asked)
            for name in _names(broker, kind)
        ]
    )


def _names(broker: Broker, kind: int) -> list[str]:
    if kind == ResourceType.TOPIC:
        return [topic.name for topic in broker.image.topics]
    if kind in (ResourceType.BROKER, ResourceType.BROKER_LOGGER):
        return [str(broker_id) for broker_id in broker.image.brokers]
    return broker.image.configs.names(kind)
