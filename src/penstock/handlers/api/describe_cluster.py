"""DescribeCluster: the brokers and their controller."""

from __future__ import annotations

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

BROKERS = 1
CONTROLLERS = 2


def handle(broker: Broker, request: DescribeClusterRequest, call: Call) -> Answer:
    if request.endpoint_type != BROKERS:
        known = request.endpoint_type == CONTROLLERS
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE
            if known
            else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of type BROKER, but we wanted an "
            "endpoint of type CONTROLLER"
            if known
            else f"Unsupported endpoint type {request.endpoint_type}",
        )
    response = DescribeClusterResponse(
        error_message=None,
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=node_id, host=host, port=port, rack=rack, is_fenced=fenced
            )
            for node_id, host, port, rack, fenced in endpoints(
                broker, call.client.listener, request.include_fenced_brokers
            )
        ],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = authorized.CLUSTER
    return response
