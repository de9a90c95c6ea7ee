"""How an API reaches a coordinator's machine: at once where it is loaded, else after the load."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any, TypeVar

from penstock.handlers.call import Answer
from penstock.handlers.coordinator_host import CoordinatorHost
from penstock.machine.decision import Decision
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.network.later import Later

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
    except (ApiError, StorageError) as error:
        return refuse(_for_client(error))


def answer_of_host(
    host: CoordinatorHost[MachineT, RecordT],
    name: str,
    decide: Callable[[MachineT], Decision[RecordT, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
) -> Answer:
    """The same for what clients ask most: no task where the machine is loaded, and the response
    itself where nothing has to be waited for."""
    runtime = host.loaded_of(name)
    if runtime is None or runtime.failure is not None:
        return ask_host(host, name, decide, refuse)
    try:
        answer = runtime.ask(decide)
    except (ApiError, StorageError) as error:
        return refuse(_for_client(error))
    return _later(answer, refuse) if isinstance(answer, asyncio.Future) else answer


def mapped(answer: Answer, change: Callable[[Any], Any]) -> Answer:
    """What a handler makes of the machine's response, whenever it comes."""
    if type(answer) is Later:
        return answer.map(change)
    if type(answer) is CoroutineType:
        return _mapped(answer, change)
    return change(answer)


async def _mapped(answer: Coroutine[Any, Any, Any], change: Callable[[Any], Any]) -> Any:
    return change(await answer)


def _later(
    future: asyncio.Future[ResponseT], refuse: Callable[[ErrorCode], ResponseT]
) -> Later[ResponseT]:
    later: Later[ResponseT] = Later(lambda: _cancel(future))

    def settle(done: asyncio.Future[ResponseT]) -> None:
        if done.cancelled():
            return
        error = done.exception()
        if error is None:
            later.settle(done.result())
        elif isinstance(error, ApiError | StorageError):
            later.settle(refuse(_for_client(error)))
        elif isinstance(error, Exception):
            later.fail(error)

    future.add_done_callback(settle)
    return later


def _cancel(future: asyncio.Future[Any]) -> None:
    future.cancel()


def _for_client(error: ApiError | StorageError) -> ErrorCode:
    """A write that failed is a coordinator that is away for a moment: clients know how to wait."""
    if not isinstance(error, ApiError):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    code = error.code
    if code in (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_LEADER_OR_FOLLOWER):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if code in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE):
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return code
