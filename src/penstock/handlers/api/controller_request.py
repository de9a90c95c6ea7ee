"""Requests that are the active controller's to answer, here or wherever it is."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.entity import Entity


def handle(broker: Broker, request: Entity, call: Call) -> Answer:
    return broker.controller.ask(request, call)
