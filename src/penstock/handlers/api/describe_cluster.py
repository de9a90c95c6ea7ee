"""DescribeCluster: the brokers, or on listeners of controllers those, and who leads (KIP-919)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator

from penstock.handlers import authorized
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.topology import endpoints
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

ENDPOINT_TYPE_FROM = 1

BROKERS = 1
CONTROLLERS = 2

NAMES = {BROKERS: "BROKER", CONTROLLERS: "CONTROLLER"}
NO_CONTROLLER = -1
PATIENCE_S = 2.0
LOOK_S = 0.02


def handle(broker: Broker, request: DescribeClusterRequest, call: Call) -> Answer:
    here = CONTROLLERS if call.client.listener in broker.controller_listeners else BROKERS
    if request.endpoint_type != here:
        return _refuse(request.endpoint_type, here, call.version)
    response = _answer(broker, request, call, here)
    if response.controller_id == NO_CONTROLLER:
        return _answer_soon(broker, request, call, response)
    return response


async def _answer_soon(
    broker: Broker, request: DescribeClusterRequest, call: Call, response: DescribeClusterResponse
) -> DescribeClusterResponse:
    """Java's client that is told of no active controller does not ask for one again for minutes:
    after a start, or an election, there is one in a moment."""
    clock = asyncio.get_running_loop().time
    until = clock() + PATIENCE_S
    while response.controller_id == NO_CONTROLLER and clock() < until:
        await asyncio.sleep(LOOK_S)
        response = _answer(broker, request, call, CONTROLLERS)
    return response


def _answer(
    broker: Broker, request: DescribeClusterRequest, call: Call, here: int
) -> DescribeClusterResponse:
    told = _brokers(broker, request, call) if here == BROKERS else _controllers(broker, call)
    response = DescribeClusterResponse(
        endpoint_type=here,
        error_message=None,
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        brokers=list(told),
    )
    if here == CONTROLLERS:
        response.controller_id = _active(broker, response.brokers)
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = authorized.CLUSTER
    return response


def _refuse(asked: int, here: int, version: int) -> DescribeClusterResponse:
    code, message = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {asked}"
    if asked in NAMES:
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        message = (
            f"The request was sent to an endpoint of type {NAMES[here]}, but we wanted an "
            f"endpoint of type {NAMES[asked]}"
        )
    if version < ENDPOINT_TYPE_FROM:
        code = ErrorCode.INVALID_REQUEST
    return DescribeClusterResponse(error_code=code, error_message=message)


def _brokers(
    broker: Broker, request: DescribeClusterRequest, call: Call
) -> Iterator[DescribeClusterBroker]:
    listener, with_fenced = call.client.listener, request.include_fenced_brokers
    for node_id, host, port, rack, fenced in endpoints(broker, listener, with_fenced):
        yield DescribeClusterBroker(
            broker_id=node_id, host=host, port=port, rack=rack, is_fenced=fenced
        )


def _controllers(broker: Broker, call: Call) -> Iterator[DescribeClusterBroker]:
    """Those that are registered, where a client of this listener reaches them."""
    for controller_id, controller in broker.image.controllers.items():
        for point in controller.end_points:
            if point.name == call.client.listener:
                yield DescribeClusterBroker(
                    broker_id=controller_id, host=point.host, port=point.port
                )


def _active(broker: Broker, told: Iterable[DescribeClusterBroker]) -> int:
    """Only one that is among those told: a client looks for its address there."""
    leader_id = broker.quorum.view.leader_id
    is_told = any(one.broker_id == leader_id for one in told)
    return leader_id if is_told and leader_id is not None else NO_CONTROLLER
