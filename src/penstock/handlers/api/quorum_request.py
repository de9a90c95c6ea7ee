"""What controllers ask each other, and what observers of the metadata log ask: raft answers."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.entity import Entity


def handle(broker: Broker, request: Entity, call: Call) -> Answer:
    return broker.quorum.answer(request, call.client.listener)
