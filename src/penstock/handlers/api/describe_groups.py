"""DescribeGroups: the state and members of groups."""

from __future__ import annotations

from penstock.handlers import authorized
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask, caller_of
from penstock.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)


def handle(broker: Broker, request: DescribeGroupsRequest, call: Call) -> Answer:
    return _describe(broker, request, call)


async def _describe(
    broker: Broker, request: DescribeGroupsRequest, call: Call
) -> DescribeGroupsResponse:
    response = DescribeGroupsResponse()
    for group_id in request.groups:
        response.groups.extend(await _describe_one(broker, group_id, call))
    if request.include_authorized_operations:
        for group in response.groups:
            if not group.error_code:
                group.authorized_operations = authorized.GROUP
    return response


async def _describe_one(broker: Broker, group_id: str, call: Call) -> list[DescribedGroup]:
    return await ask(
        broker,
        group_id,
        lambda shard, _: shard.admin.decide_describe([group_id], caller_of(call)),
        lambda code: [DescribedGroup(group_id=group_id, error_code=code)],
    )
