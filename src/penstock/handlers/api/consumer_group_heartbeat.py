"""ConsumerGroupHeartbeat: join, live in and leave a group of the consumer protocol (KIP-848)."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import answer, caller_of
from penstock.model.error import ErrorCode
from penstock.model.feature import GROUP_VERSION
from penstock.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


def handle(broker: Broker, request: ConsumerGroupHeartbeatRequest, call: Call) -> Answer:
    if not broker.image.features.get(GROUP_VERSION):
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return answer(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.consumer.decide_heartbeat(request, caller_of(call), now_ms),
        lambda code: ConsumerGroupHeartbeatResponse(error_code=code),
        ErrorCode.INVALID_REQUEST,
    )
