"""ListPartitionReassignments: asked of the controller, which knows what is under way."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)


def handle(broker: Broker, request: ListPartitionReassignmentsRequest, call: Call) -> Answer:
    return broker.controller.list_partition_reassignments(request)
