"""How an API reaches the machine of a group: at once where it is loaded, else after the load."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from penstock.group import Caller, GroupEntry, GroupShard
from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.machine.decision import Decision
from penstock.model.error import ApiError, ErrorCode, StorageError

ResponseT = TypeVar("ResponseT")


def caller_of(call: Call) -> Caller:
    host = call.client.address.rpartition(":")[0]
    return Caller(call.version, call.client.client_id or "", f"/{host}")


async def ask(
    broker: Broker,
    group_id: str,
    decide: Callable[[GroupShard, int], Decision[GroupEntry, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
) -> ResponseT:
    """`refuse` builds the answer for when the group cannot be asked at all."""
    try:
        runtime = broker.groups.loaded_of(group_id)
        if runtime is None or runtime.failure is not None:
            runtime = await broker.groups.wait_runtime(group_id)
        return await runtime.submit(lambda shard: decide(shard, broker.clock.now_ms()))
    except ApiError as error:
        return refuse(_for_client(error.code))
    except StorageError:
        return refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE)


def _for_client(code: ErrorCode) -> ErrorCode:
    """A write that failed is a coordinator that is away for a moment: clients know how to wait."""
    if code in (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_LEADER_OR_FOLLOWER):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if code in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE):
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return code


Asking = Coroutine[Any, Any, ResponseT]
