"""OffsetDelete: forget a group's offsets of partitions it does not read."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask
from penstock.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse


def handle(broker: Broker, request: OffsetDeleteRequest, call: Call) -> Answer:
    return ask(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.offsets.decide_delete(request),
        lambda code: OffsetDeleteResponse(error_code=code),
    )
