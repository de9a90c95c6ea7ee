"""UnregisterBroker: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.unregister_broker import UnregisterBrokerRequest


def handle(broker: Broker, request: UnregisterBrokerRequest, call: Call) -> Answer:
    return broker.controller.unregister_broker(request)
