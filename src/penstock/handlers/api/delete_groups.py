"""DeleteGroups: groups without members go, with all their offsets."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask
from penstock.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def handle(broker: Broker, request: DeleteGroupsRequest, call: Call) -> Answer:
    return _delete(broker, request)


async def _delete(broker: Broker, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    response = DeleteGroupsResponse()
    for group_id in dict.fromkeys(request.groups_names):
        response.results.extend(await _delete_one(broker, group_id))
    return response


async def _delete_one(broker: Broker, group_id: str) -> list[DeletableGroupResult]:
    return await ask(
        broker,
        group_id,
        lambda shard, _: shard.admin.decide_delete([group_id]),
        lambda code: [DeletableGroupResult(group_id=group_id, error_code=code)],
    )
