"""StreamsGroupDescribe: the topology of streams groups, their members and their tasks."""

from __future__ import annotations

from penstock.handlers import authorized
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import STREAMS_VERSION, ask
from penstock.model.error import ErrorCode
from penstock.protocol.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)


def handle(broker: Broker, request: StreamsGroupDescribeRequest, call: Call) -> Answer:
    return _describe(broker, request)


async def _describe(
    broker: Broker, request: StreamsGroupDescribeRequest
) -> StreamsGroupDescribeResponse:
    response = StreamsGroupDescribeResponse()
    for group_id in request.group_ids:
        response.groups.extend(await _describe_one(broker, group_id))
    if request.include_authorized_operations:
        for group in response.groups:
            if not group.error_code:
                group.authorized_operations = authorized.GROUP
    return response


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
