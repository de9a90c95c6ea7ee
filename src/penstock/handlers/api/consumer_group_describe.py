"""ConsumerGroupDescribe: members of consumer groups, what they have and what they shall have."""

from __future__ import annotations

from penstock.handlers import authorized
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import GROUP_VERSION, ask
from penstock.model.error import ErrorCode
from penstock.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)


def handle(broker: Broker, request: ConsumerGroupDescribeRequest, call: Call) -> Answer:
    return _describe(broker, request)


async def _describe(
    broker: Broker, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    response = ConsumerGroupDescribeResponse()
    for group_id in request.group_ids:
        response.groups.extend(await _describe_one(broker, group_id))
    if request.include_authorized_operations:
        for group in response.groups:
            if not group.error_code:
                group.authorized_operations = authorized.GROUP
    return response


async def _describe_one(broker: Broker, group_id: str) -> list[DescribedGroup]:
    if not broker.image.features.get(GROUP_VERSION):
        return [DescribedGroup(group_id=group_id, error_code=ErrorCode.UNSUPPORTED_VERSION)]
    return await ask(
        broker,
        group_id,
        lambda shard, _: shard.consumer.decide_describe([group_id]),
        lambda code: [DescribedGroup(group_id=group_id, error_code=code)],
    )
