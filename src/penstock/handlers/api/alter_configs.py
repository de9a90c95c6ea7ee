"""AlterConfigs: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.alter_configs import AlterConfigsRequest


def handle(broker: Broker, request: AlterConfigsRequest, call: Call) -> Answer:
    return broker.controller.alter_configs(request)
