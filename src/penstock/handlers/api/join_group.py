"""JoinGroup: come into a group, and learn of its new generation when all are there."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.coordinator_call import mapped
from penstock.handlers.group_call import answer, caller_of
from penstock.model.error import ErrorCode
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse

NULL_PROTOCOL_FROM = 7


def handle(broker: Broker, request: JoinGroupRequest, call: Call) -> Answer:
    joined = answer(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.classic.decide_join(request, caller_of(call), now_ms),
        lambda code: JoinGroupResponse(error_code=code, member_id=request.member_id),
        ErrorCode.INVALID_GROUP_ID,
    )
    return mapped(joined, lambda response: _finish(response, call.version))


def _finish(response: JoinGroupResponse, version: int) -> JoinGroupResponse:
    if version >= NULL_PROTOCOL_FROM and response.error_code:
        response.protocol_name = None
    return response
