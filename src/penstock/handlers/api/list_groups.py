"""ListGroups: every group this broker coordinates."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.coordinator_call import code_for_client
from penstock.model.error import ApiError, StorageError
from penstock.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse

STATE_FROM = 4
TYPE_FROM = 5


def handle(broker: Broker, request: ListGroupsRequest, call: Call) -> Answer:
    return _list(broker, request, call.version)


async def _list(broker: Broker, request: ListGroupsRequest, version: int) -> ListGroupsResponse:
    response = ListGroupsResponse()
    try:
        for runtime in await broker.groups.wait_all():
            listed = await runtime.submit(lambda shard: shard.admin.decide_list(request))
            response.groups.extend(listed)
    except (ApiError, StorageError) as error:
        return ListGroupsResponse(error_code=code_for_client(error))
    for group in response.groups:
        if version < STATE_FROM:
            group.group_state = ""
        if version < TYPE_FROM:
            group.group_type = ""
    return response
