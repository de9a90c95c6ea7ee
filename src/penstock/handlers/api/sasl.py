"""SaslHandshake and SaslAuthenticate where nobody has to log in, or has done so already.

Logins themselves never come this far: `handlers.login` stands before the router.
"""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def handle(
    broker: Broker, request: SaslHandshakeRequest | SaslAuthenticateRequest, call: Call
) -> Answer:
    if isinstance(request, SaslHandshakeRequest):
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
    return SaslAuthenticateResponse(
        error_code=ErrorCode.ILLEGAL_SASL_STATE,
        error_message="SaslAuthenticate request received after successful authentication",
    )
