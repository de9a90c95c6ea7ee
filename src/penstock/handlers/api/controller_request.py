"""Requests that are the active controller's to answer, here or wherever it is.

Brokers and controllers ask on a listener of controllers, and look for the active one themselves:
there another one only says that it is not.
"""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.entity import Entity
from penstock.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest


def handle(broker: Broker, request: Entity, call: Call) -> Answer:
    if isinstance(request, BrokerHeartbeatRequest):
        call.client.broker = (request.broker_id, request.broker_epoch)
        broker.controller.note_contact(request.broker_id, request.broker_epoch)
    if call.client.listener in broker.controller_listeners:
        return broker.controller.ask_active(request, call)
    return broker.controller.ask(request, call)
