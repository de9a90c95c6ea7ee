"""StreamsGroupHeartbeat: join, live in and leave a group of the streams protocol (KIP-1071)."""

from __future__ import annotations

from penstock.group.streams.heartbeat import Outcome
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.coordinator_call import mapped
from penstock.handlers.group_call import answer, caller_of, nameless_message
from penstock.handlers.streams_topics import topology_refused
from penstock.model.error import ErrorCode
from penstock.model.feature import STREAMS_VERSION
from penstock.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)


def handle(broker: Broker, request: StreamsGroupHeartbeatRequest, call: Call) -> Answer:
    if not broker.image.features.get(STREAMS_VERSION):
        return _refused(ErrorCode.UNSUPPORTED_VERSION)
    refused = topology_refused(broker.controller, request)
    if refused is not None:
        return refused
    found = answer(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.streams.decide_heartbeat(request, caller_of(call), now_ms),
        lambda code: Outcome(_refused(code)),
        Outcome(_refused(ErrorCode.INVALID_REQUEST, nameless_message(request.member_id))),
    )
    return mapped(found, lambda outcome: _responded(broker, outcome, call))


def _responded(broker: Broker, outcome: Outcome, call: Call) -> StreamsGroupHeartbeatResponse:
    if not outcome.missing:
        return outcome.response
    return broker.streams_topics.see_to(outcome.missing, outcome.response, call)


def _refused(code: ErrorCode, message: str | None = None) -> StreamsGroupHeartbeatResponse:
    return StreamsGroupHeartbeatResponse(error_code=code, error_message=message, status=[])
