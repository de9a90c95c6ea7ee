"""LeaveGroup: go, so that the others need not wait for a timeout."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import answer, caller_of
from penstock.model.error import ErrorCode
from penstock.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse


def handle(broker: Broker, request: LeaveGroupRequest, call: Call) -> Answer:
    return answer(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.classic.decide_leave(request, caller_of(call), now_ms),
        lambda code: LeaveGroupResponse(error_code=code),
        ErrorCode.INVALID_GROUP_ID,
    )
