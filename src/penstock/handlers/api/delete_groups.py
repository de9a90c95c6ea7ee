"""DeleteGroups: groups without members go, with all their offsets."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask
from penstock.machine.decision import Decision
from penstock.model.error import ErrorCode
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
    error = await _forget_shared(broker, group_id)
    if error is not ErrorCode.NONE:
        return [DeletableGroupResult(group_id=group_id, error_code=error)]
    return await ask(
        broker,
        group_id,
        lambda shard, _: shard.admin.decide_delete([group_id]),
        lambda code: [DeletableGroupResult(group_id=group_id, error_code=code)],
    )


async def _forget_shared(broker: Broker, group_id: str) -> ErrorCode:
    """A share group goes after the state of its partitions: without it nobody would find that."""
    is_share = await ask(
        broker,
        group_id,
        lambda shard, _: Decision((), group_id in shard.shares),
        lambda code: False,
    )
    if not is_share:
        return ErrorCode.NONE
    from penstock.handlers.share.offset import forget

    begun, results = await forget(broker, group_id, None)
    failed = (one.error for one in results.values() if one.error is not ErrorCode.NONE)
    return begun.error if begun.error is not ErrorCode.NONE else next(failed, ErrorCode.NONE)
