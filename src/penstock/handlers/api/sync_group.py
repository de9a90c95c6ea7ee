"""SyncGroup: give or get the assignment of this generation."""

from __future__ import annotations

from penstock.group.classic.sync import sync_request_error
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import answer, caller_of
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse


def handle(broker: Broker, request: SyncGroupRequest, call: Call) -> Answer:
    return answer(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.classic.decide_sync(request, caller_of(call), now_ms),
        lambda code: SyncGroupResponse(error_code=code),
        sync_request_error(request, call.version),
    )
