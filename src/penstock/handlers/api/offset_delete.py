"""OffsetDelete: forget a group's offsets of partitions it does not read."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask
from penstock.handlers.named_once import answered_once
from penstock.model.error import ErrorCode
from penstock.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse


def handle(broker: Broker, request: OffsetDeleteRequest, call: Call) -> Answer:
    return _delete(broker, request)


async def _delete(broker: Broker, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    response = await ask(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.offsets.decide_delete(request),
        lambda code: OffsetDeleteResponse(error_code=code),
    )
    for topic in response.topics:
        known = broker.image.topics.get(topic.name)
        for partition in topic.partitions:
            if known is None or partition.partition_index not in known.partitions:
                partition.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if len(response.topics) > 1:
        response.topics = answered_once(response.topics)
    return response
