"""CreatePartitions: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.create_partitions import CreatePartitionsRequest


def handle(broker: Broker, request: CreatePartitionsRequest, call: Call) -> Answer:
    return broker.controller.create_partitions(request)
