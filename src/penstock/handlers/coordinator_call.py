"""How an API reaches a coordinator's machine: at once where it is loaded, else after the load."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any, TypeVar

from penstock.coordinator.host import CoordinatorHost
from penstock.handlers.call import Answer
from penstock.machine.decision import Decision
from penstock.model.clock import Clock
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
        return await runtime.submit(decide, limit_s=host.commit_limit_s)
    except (ApiError, StorageError) as error:
        return refuse(code_for_client(error))


def answer_of_host(
    host: CoordinatorHost[MachineT, RecordT],
    name: str,
    decide: Callable[[MachineT, int], Decision[RecordT, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
    clock: Clock,
) -> Answer:
    """The same for what clients ask most: no task where the machine is loaded, and the response
    itself where nothing has to be waited for. `decide` gets the machine and the time."""
    runtime = host.loaded_of(name)
    if runtime is None or runtime.failure is not None:
        return ask_host(host, name, lambda machine: decide(machine, clock.now_ms()), refuse)
    try:
        answer = runtime.ask(decide, clock.now_ms(), limit_s=host.commit_limit_s)
    except (ApiError, StorageError) as error:
        return refuse(code_for_client(error))
    if type(answer) is Later:
        answer.recover(lambda error: refuse(code_for_client(error)))
    return answer


def mapped(answer: Answer, change: Callable[[Any], Any]) -> Answer:
    """What a handler makes of the machine's response, whenever it comes."""
    if type(answer) is Later:
        return answer.map(change)
    if type(answer) is CoroutineType:
        return _mapped(answer, change)
    return change(answer)


async def _mapped(answer: Coroutine[Any, Any, Any], change: Callable[[Any], Any]) -> Any:
    return change(await answer)


_UNAVAILABLE = frozenset(
    {
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
    }
)
"""Of the partition below a coordinator: none of its clients' business."""

_ELSEWHERE = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})


def code_for_client(error: Exception) -> ErrorCode:
    """A write that failed is a coordinator that is away for a moment: clients know how to wait.
    Any other error is a fault of our own, and no answer."""
    if isinstance(error, StorageError):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if not isinstance(error, ApiError):
        raise error
    code = error.code
    if code in _UNAVAILABLE:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if code in _ELSEWHERE:
        return ErrorCode.NOT_COORDINATOR
    if code in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE):
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return code
