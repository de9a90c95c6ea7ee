"""FindCoordinator: which broker to ask about a group, a transaction or a share partition."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.topology import address_of
from penstock.model.error import ApiError, ErrorCode
from penstock.model.feature import SHARE_VERSION
from penstock.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

GROUP = 0
TRANSACTION = 1
SHARE = 2
MANY_KEYS_FROM = 4
FOUND = "NONE"
"""The message where one coordinator was asked for, and found. Among many keys there is none."""
NOT_AVAILABLE = "The coordinator is not available."


def handle(broker: Broker, request: FindCoordinatorRequest, call: Call) -> Answer:
    return _find(broker, request, call)


async def _find(
    broker: Broker, request: FindCoordinatorRequest, call: Call
) -> FindCoordinatorResponse:
    version, listener = call.version, call.client.listener
    keys = request.coordinator_keys if version >= MANY_KEYS_FROM else [request.key]
    found = [await _find_one(broker, request.key_type, key, listener) for key in keys]
    if version >= MANY_KEYS_FROM:
        return FindCoordinatorResponse(coordinators=found)
    one = found[0]
    return FindCoordinatorResponse(
        error_code=one.error_code,
        error_message=(one.error_message or NOT_AVAILABLE) if one.error_code else FOUND,
        node_id=one.node_id,
        host=one.host,
        port=one.port,
    )


async def _find_one(broker: Broker, key_type: int, key: str, listener: str) -> Coordinator:
    try:
        node_id, host, port = await _coordinator(broker, key_type, key, listener)
    except ApiError as error:
        return Coordinator(
            key=key, node_id=-1, port=-1, error_code=error.code, error_message=error.message or ""
        )
    return Coordinator(key=key, node_id=node_id, host=host, port=port)


async def _coordinator(
    broker: Broker, key_type: int, key: str, listener: str
) -> tuple[int, str, int]:
    """The leader of the partition in which the key is kept, and where clients find it."""
    if key_type == GROUP:
        partition = await broker.groups.wait_partition_of(key)
    elif key_type == TRANSACTION:
        partition = await broker.transactions.wait_partition_of(key)
    elif key_type == SHARE and broker.image.features.get(SHARE_VERSION):
        from penstock.share.key import key_of_name

        if key_of_name(key) is None:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        partition = await broker.share.host.wait_partition_of(key)
    else:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"no coordinator of type {key_type} here")
    image = broker.image.topics.partition(*partition)
    if image is not None and broker.lost_leaders.among([image.leader]):
        # Kafka's AdminClient would wait for a node that no metadata names any more.
        await broker.lost_leaders.wait_replaced([image.leader])
        image = broker.image.topics.partition(*partition)
    address = None if image is None else address_of(broker, image.leader, listener)
    if image is None or address is None:
        raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return image.leader, *address
