"""How brokers and topics look to clients, shared by the APIs that describe them."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.handlers.broker import Broker
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
        if image.id == broker.node_id:
            host, port = broker.endpoint.host, broker.endpoint.port
        elif image.endpoints:
            host, port = image.endpoints[0].host, image.endpoints[0].port
        else:
            continue
        yield image.id, host, port, image.rack, image.fenced
