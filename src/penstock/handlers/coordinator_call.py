"""How an API reaches a coordinator's machine: at once where it is loaded, else after the load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from penstock.handlers.coordinator_host import CoordinatorHost
from penstock.machine.decision import Decision
from penstock.model.error import ApiError, ErrorCode, StorageError

MachineT = TypeVar("MachineT", bound=Any)
RecordT = TypeVar("RecordT")
ResponseT = TypeVar("ResponseT")


async def ask_host(
    host: CoordinatorHost[MachineT, RecordT],
    name: str,
    decide: Callable[[MachineT], Decision[RecordT, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
) -> ResponseT:
    """`refuse` builds the answer for when the coordinator cannot be asked at all."""
    try:
        runtime = host.loaded_of(name)
        if runtime is None or runtime.failure is not None:
            runtime = await host.wait_runtime(name)
        return await runtime.submit(decide)
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
