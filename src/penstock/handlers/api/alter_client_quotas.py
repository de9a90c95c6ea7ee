"""AlterClientQuotas: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.alter_client_quotas import AlterClientQuotasRequest


def handle(broker: Broker, request: AlterClientQuotasRequest, call: Call) -> Answer:
    return broker.controller.alter_client_quotas(request)
