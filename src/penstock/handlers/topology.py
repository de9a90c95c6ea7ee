"""How brokers and topics look to clients, shared by the APIs that describe them."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.handlers.broker import Broker
from penstock.model.error import ApiError, ErrorCode
from penstock.model.internal_topic import WRITTEN_BY_BROKERS

INTERNAL_TOPICS = WRITTEN_BY_BROKERS | frozenset(
    {"__consumer_offsets", "__transaction_state", "__share_group_state"}
)
ADMIN_CLIENT_ID = "__admin_client"
"""Kafka lets a client of this name write internal topics: tools that restore a backup use it."""

Address = tuple[int, str, int, str | None, bool]
"""Id, host, port, rack, and whether it is fenced."""


def is_node(client_id: str | None) -> bool:
    """Whether somebody says to be another broker."""
    return client_id is not None and client_id.startswith("broker-")


def check_writable(topic: str, client_id: str | None) -> None:
    """What is in an internal topic is a coordinator's state, and the coordinator's to write. The
    audit log and the brokers' figures are the brokers'."""
    if topic not in INTERNAL_TOPICS:
        return
    may_write = is_node(client_id) if topic in WRITTEN_BY_BROKERS else client_id == ADMIN_CLIENT_ID
    if not may_write:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)


def endpoints(broker: Broker, listener: str, with_fenced: bool = False) -> Iterator[Address]:
    """Of every broker that a client of this listener may be sent to."""
    for image in broker.image.brokers.values():
        if image.fenced and not with_fenced:
            continue
        endpoint = image.endpoint(listener)
        if endpoint is not None:
            yield image.id, endpoint.host, endpoint.port, image.rack, image.fenced


def address_of(broker: Broker, node_id: int, listener: str) -> tuple[str, int] | None:
    """Where clients of this listener find a broker; None of one that is not there, or fenced."""
    image = broker.image.brokers.get(node_id)
    endpoint = None if image is None or image.fenced else image.endpoint(listener)
    return None if endpoint is None else (endpoint.host, endpoint.port)
