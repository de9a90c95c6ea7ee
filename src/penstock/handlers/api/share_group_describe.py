"""ShareGroupDescribe: members of share groups, and what they read."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask
from penstock.handlers.group_description import described
from penstock.model.error import ErrorCode
from penstock.model.feature import SHARE_VERSION
from penstock.protocol.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)


def handle(broker: Broker, request: ShareGroupDescribeRequest, call: Call) -> Answer:
    response = ShareGroupDescribeResponse()
    return described(request, response, lambda group_id: _describe_one(broker, group_id))


async def _describe_one(broker: Broker, group_id: str) -> list[DescribedGroup]:
    if not broker.image.features.get(SHARE_VERSION):
        return [DescribedGroup(group_id=group_id, error_code=ErrorCode.UNSUPPORTED_VERSION)]
    if not group_id:
        return [DescribedGroup(group_id="", error_code=ErrorCode.INVALID_GROUP_ID)]
    return await ask(
        broker,
        group_id,
        lambda shard, _: shard.share.decide_describe([group_id]),
        lambda code: [DescribedGroup(group_id=group_id, error_code=code)],
    )
