"""ShareGroupHeartbeat: join, live in and leave a share group (KIP-932)."""

from __future__ import annotations

from penstock.group import Beat
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.coordinator_call import mapped
from penstock.handlers.group_call import answer, caller_of, nameless_message
from penstock.model.error import ErrorCode
from penstock.model.feature import SHARE_VERSION
from penstock.protocol.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)


def handle(broker: Broker, request: ShareGroupHeartbeatRequest, call: Call) -> Answer:
    if not broker.image.features.get(SHARE_VERSION):
        return ShareGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)

    def finish(beat: Beat) -> ShareGroupHeartbeatResponse:
        if beat.initializing:
            broker.share.beginnings.begin(request.group_id, beat)
        return beat.response

    beat = answer(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.share.decide_heartbeat(request, caller_of(call), now_ms),
        lambda code: Beat(ShareGroupHeartbeatResponse(error_code=code)),
        Beat(
            ShareGroupHeartbeatResponse(
                error_code=ErrorCode.INVALID_REQUEST,
                error_message=nameless_message(request.member_id),
            )
        ),
    )
    return mapped(beat, finish)
