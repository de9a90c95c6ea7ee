"""StreamsGroupDescribe: the topology of streams groups, their members and their tasks."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask
from penstock.handlers.group_description import described
from penstock.model.error import ErrorCode
from penstock.model.feature import STREAMS_VERSION
from penstock.protocol.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)


def handle(broker: Broker, request: StreamsGroupDescribeRequest, call: Call) -> Answer:
    response = StreamsGroupDescribeResponse()
    return described(request, response, lambda group_id: _describe_one(broker, group_id))


async def _describe_one(broker: Broker, group_id: str) -> list[DescribedGroup]:
    if not broker.image.features.get(STREAMS_VERSION):
        return [DescribedGroup(group_id=group_id, error_code=ErrorCode.UNSUPPORTED_VERSION)]
    if not group_id:
        return [DescribedGroup(group_id="", error_code=ErrorCode.INVALID_GROUP_ID)]
    return await ask(
        broker,
        group_id,
        lambda shard, now_ms: shard.streams.decide_describe([group_id], now_ms),
        lambda code: [DescribedGroup(group_id=group_id, error_code=code)],
    )
