"""How brokers and topics look to clients, shared by the APIs that describe them."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.handlers.broker import Broker
from penstock.metadata.broker import BrokerImage
from penstock.model.error import ApiError, ErrorCode

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
ADMIN_CLIENT_ID = "__admin_client"
"""Kafka lets a client of this name write internal topics: tools that restore a backup use it."""


def check_writable(topic: str, client_id: str | None) -> None:
    """What is in an internal topic is a coordinator's state, and the coordinator's to write."""
    if topic in INTERNAL_TOPICS and client_id != ADMIN_CLIENT_ID:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)


def endpoints(
    broker: Broker, with_fenced: bool = False
) -> Iterator[tuple[int, str, int, str | None, bool]]:
    """(id, host, port, rack, fenced) of every broker a client may be sent to."""
    for image in broker.image.brokers.values():
        if image.fenced and not with_fenced:
            continue
        address = _address(broker, image)
        if address is not None:
            yield image.id, *address, image.rack, image.fenced


def address_of(broker: Broker, node_id: int) -> tuple[str, int] | None:
    """Where clients find a broker; None of one that is not there, or not let in."""
    image = broker.image.brokers.get(node_id)
    return None if image is None or image.fenced else _address(broker, image)


def _address(broker: Broker, image: BrokerImage) -> tuple[str, int] | None:
    if image.id == broker.node_id:
        return broker.endpoint.host, broker.endpoint.port
    if not image.endpoints:
        return None
    return image.endpoints[0].host, image.endpoints[0].port
