"""JoinGroup: come into a group, and learn of its new generation when all are there."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask, caller_of
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse


def handle(broker: Broker, request: JoinGroupRequest, call: Call) -> Answer:
    return ask(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.classic.decide_join(request, caller_of(call), now_ms),
        lambda code: JoinGroupResponse(error_code=code, member_id=request.member_id),
    )
