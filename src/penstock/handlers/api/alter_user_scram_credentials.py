"""AlterUserScramCredentials: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
)


def handle(broker: Broker, request: AlterUserScramCredentialsRequest, call: Call) -> Answer:
    return broker.controller.alter_user_scram_credentials(request)
