"""AlterPartitionReassignments: asked of the controller, which knows who can hold a replica."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
)


def handle(broker: Broker, request: AlterPartitionReassignmentsRequest, call: Call) -> Answer:
    return broker.controller.alter_partition_reassignments(request)
