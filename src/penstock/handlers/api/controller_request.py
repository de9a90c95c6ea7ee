"""Requests that are the active controller's to answer, here or wherever it is.

Brokers and controllers ask on a listener of controllers, and look for the active one themselves:
there another one only says that it is not.
"""

from __future__ import annotations

from typing import Any

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest

TIMED = frozenset((19, 20, 37, 43, 45))
"""Requests that the controller does not begin with when their time is up."""


def handle(broker: Broker, request: Any, call: Call) -> Answer:
    if request.API_KEY in TIMED and request.timeout_ms <= 0:
        raise ApiError(ErrorCode.REQUEST_TIMED_OUT)
    if isinstance(request, BrokerHeartbeatRequest):
        call.client.broker = (request.broker_id, request.broker_epoch)
        broker.controller.note_contact(request.broker_id, request.broker_epoch)
    if call.client.listener in broker.controller_listeners:
        return broker.controller.ask_active(request, call)
    return broker.controller.ask(request, call)
