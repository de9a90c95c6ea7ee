"""ElectLeaders: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest


def handle(broker: Broker, request: ElectLeadersRequest, call: Call) -> Answer:
    return broker.controller.elect_leaders(request)
