"""ConsumerGroupHeartbeat: join, live in and leave a group of the consumer protocol (KIP-848)."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import answer, caller_of, nameless_message
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
        ConsumerGroupHeartbeatResponse(
            error_code=ErrorCode.INVALID_REQUEST, error_message=_nameless(request, call.version)
        ),
    )


def _nameless(request: ConsumerGroupHeartbeatRequest, version: int) -> str:
    """Members of the first version join without an id."""
    return nameless_message(request.member_id if version else "given")
