"""ConsumerGroupDescribe: members of consumer groups, what they have and what they shall have."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask
from penstock.handlers.group_description import described
from penstock.model.error import ErrorCode
from penstock.model.feature import GROUP_VERSION
from penstock.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)


def handle(broker: Broker, request: ConsumerGroupDescribeRequest, call: Call) -> Answer:
    response = ConsumerGroupDescribeResponse()
    return described(request, response, lambda group_id: _describe_one(broker, group_id))


async def _describe_one(broker: Broker, group_id: str) -> list[DescribedGroup]:
    if not broker.image.features.get(GROUP_VERSION):
        return [DescribedGroup(group_id=group_id, error_code=ErrorCode.UNSUPPORTED_VERSION)]
    if not group_id:
        return [DescribedGroup(group_id="", error_code=ErrorCode.INVALID_GROUP_ID)]
    return await ask(
        broker,
        group_id,
        lambda shard, _: shard.consumer.decide_describe([group_id]),
        lambda code: [DescribedGroup(group_id=group_id, error_code=code)],
    )
