"""Envelope: what a broker sends on for its client, answered as if the client had asked."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call, ClientState
from penstock.handlers.envelope import FORWARDED, SIZE_BYTES, host_of, principal_of
from penstock.model.error import ApiError, ErrorCode, ProtocolError
from penstock.protocol.frame import UnsupportedVersion, decode_request_start
from penstock.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse


def handle(broker: Broker, request: EnvelopeRequest, call: Call) -> Answer:
    return answer(broker, request, call.client.listener)


async def answer(broker: Broker, request: EnvelopeRequest, listener: str) -> EnvelopeResponse:
    try:
        client = ClientState(f"{host_of(request)}:0", listener)
        client.principal = principal_of(request)
        client.is_forwarded = True
        if decode_request_start(request.request_data)[0] not in FORWARDED:
            raise ApiError(ErrorCode.INVALID_REQUEST, "nothing that may be sent on")
        if not broker.controller.is_active:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        data = await broker.answer_embedded(client, request.request_data)
    except UnsupportedVersion:
        return EnvelopeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    except ProtocolError:
        return EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST)
    except ApiError as error:
        return EnvelopeResponse(error_code=error.code)
    return EnvelopeResponse(response_data=data[SIZE_BYTES:])
