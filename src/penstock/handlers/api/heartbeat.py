"""Heartbeat: still here."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import answer
from penstock.model.error import ErrorCode
from penstock.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(broker: Broker, request: HeartbeatRequest, call: Call) -> Answer:
    return answer(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.classic.decide_heartbeat(request, now_ms),
        lambda code: HeartbeatResponse(error_code=code),
        ErrorCode.INVALID_GROUP_ID,
    )
