"""IncrementalAlterConfigs: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest


def handle(broker: Broker, request: IncrementalAlterConfigsRequest, call: Call) -> Answer:
    return broker.controller.incremental_alter_configs(request)
