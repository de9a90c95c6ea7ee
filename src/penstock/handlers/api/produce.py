"""Produce: append each partition's batch, answer when it is as safe as the topic asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, NamedTuple

from penstock.handlers import transactional_produce as transactional
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call, ClientState
from penstock.handlers.named_once import named_once
from penstock.handlers.produce_answer import (
    SafeAnswer,
    Waiting,
    name_leaders,
    turn_into_failure,
)
from penstock.handlers.topology import check_writable
from penstock.model.error import ApiError, ErrorCode, ProtocolError, StorageError, code_of
from penstock.model.id import TopicPartition
from penstock.network.later import Later, future_of
from penstock.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from penstock.records.header import (
    ATTRIBUTES,
    BATCH_OVERHEAD,
    CODEC_MASK,
    MAGIC,
    MAGIC_V2,
    Buffer,
)
from penstock.replication.partition import Partition
from penstock.storage.append_check import BatchCheck, RejectedRecords, TooMuchToCheckError
from penstock.storage.log import AppendResult
from penstock.storage.producer.verification import Guard

TOPIC_IDS_FROM = 13
ZSTD_FROM = 7
ZSTD = 4


class UnacknowledgedFailure(ProtocolError):
    """A client that wants no answers can only be told of an error by hanging up."""


Unchecked = tuple[TopicProduceData, PartitionProduceData, PartitionProduceResponse, Guard]
"""A batch that was too much to check at once, the place of its answer, and the log as it was."""
Awaited = Callable[[], Coroutine[Any, Any, ProduceResponse | None]]
"""The answer, when its batches are as safe as the topic asks."""
Key = tuple[int, int]
"""A topic of the request, by identity, and a partition."""


class Appends(NamedTuple):
    """How far a request has come."""

    response: ProduceResponse
    waiting: list[Waiting]
    unchecked: list[Unchecked]


def handle(broker: Broker, request: ProduceRequest, call: Call) -> Answer:
    key = "topic_id" if call.version >= TOPIC_IDS_FROM else "name"
    request.topic_data = named_once(request.topic_data, "partition_data", "index", key)
    if request.acks not in (-1, 0, 1):
        return _reject_acks(broker, request, call.version)
    if transactional.lacks_id(request):
        return _refuse(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if call.client.parked_produces or transactional.must_ask(broker, request, call):
        return _park_whole(broker, request, call)
    appends = append_all(broker, request, call, {})
    if appends.unchecked:
        return _park_unchecked(broker, request, call, appends)
    return _answer(broker, request, call, appends)


def append_all(
    broker: Broker, request: ProduceRequest, call: Call, refused: Mapping[Key, ApiError]
) -> Appends:
    """The ordered part: what is not left unchecked is in the log when this returns, if not on
    disk."""
    now_ms = broker.clock.now_ms()
    acks = request.acks
    waiting: list[Waiting] = []
    unchecked: list[Unchecked] = []
    response = ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    _failed(broker, data.index, refused[id(topic), data.index])
                    if refused and (id(topic), data.index) in refused
                    else _append(broker, topic, data, call, acks, now_ms, waiting, unchecked)
                    for data in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )
    name_leaders(broker, response, call)
    return Appends(response, waiting, unchecked)


def _answer(
    broker: Broker, request: ProduceRequest, call: Call, appends: Appends
) -> ProduceResponse | Later[ProduceResponse] | None:
    if request.acks == 0:
        _hang_up_on_error(appends.response)
        return None
    if not appends.waiting:
        return appends.response
    safe = SafeAnswer(broker, request, call, appends.response, appends.waiting)
    # A disk may have failed under a later partition of the request, and under these with it.
    return appends.response if safe.is_settled else safe.later


def _append(
    broker: Broker,
    topic: TopicProduceData,
    data: PartitionProduceData,
    call: Call,
    acks: int,
    now_ms: int,
    waiting: list[Waiting],
    unchecked: list[Unchecked],
    checked: BatchCheck | None = None,
) -> PartitionProduceResponse:
    version = call.version
    try:
        partition = _find(broker, topic, data, version)
        records = _checked(data.records, version)
        check_writable(partition.topic, call.client.client_id)
        result = partition.append(records, now_ms, checked=checked, acks=acks)
    except TooMuchToCheckError:
        answer = PartitionProduceResponse(index=data.index)
        unchecked.append((topic, data, answer, transactional.guard_of(partition)))
        return answer
    except ApiError as error:
        return _failed(broker, data.index, error)
    except StorageError as error:
        broker.log_dirs.fail(TopicPartition(partition.topic, partition.index), error)
        return _failed(broker, data.index, error)
    if not result.duplicate:
        _measure(broker, partition.topic, call.client, records, result)
    answer = PartitionProduceResponse(
        index=data.index,
        base_offset=result.first_offset,
        log_append_time_ms=result.append_time_ms,
        log_start_offset=result.log_start_offset,
    )
    if acks and not partition.is_acknowledged(result.last_offset + 1, acks):
        waiting.append((partition, result, answer))
    return answer


def _find(
    broker: Broker, topic: TopicProduceData, data: PartitionProduceData, version: int
) -> Partition:
    """Also one that is led elsewhere: it remembers whom it has refused."""
    partitions = broker.partitions
    if version >= TOPIC_IDS_FROM:
        found = partitions.get_by_id(topic.topic_id, data.index)
        if found is None:
            raise partitions.refusal_by_id(topic.topic_id, data.index)
        return found
    found = partitions.get(topic.name, data.index)
    if found is None:
        raise partitions.refusal_by_name(topic.name, data.index)
    return found


# Parked


def _park_whole(broker: Broker, request: ProduceRequest, call: Call) -> Answer:
    batches = [data for topic in request.topic_data for data in topic.partition_data]
    try:
        return broker.parked.park(
            call.client,
            batches,
            partial(_produce_whole, broker, request, call),
            unanswered=request.acks == 0,
        )
    except ApiError as error:
        return _refuse(request, error.code)


def _park_unchecked(
    broker: Broker, request: ProduceRequest, call: Call, appends: Appends
) -> Answer:
    # From now on, so that no flush is missed while the rest is being checked.
    safe = SafeAnswer(broker, request, call, appends.response, appends.waiting, held=True)
    answered = future_of(safe.later)
    try:
        return broker.parked.park(
            call.client,
            [data for _, data, _, _ in appends.unchecked],
            partial(_produce_unchecked, broker, request, call, appends, safe, answered),
            unanswered=request.acks == 0,
        )
    except ApiError as error:
        for _, _, answer, _ in appends.unchecked:
            turn_into_failure(answer, error)
        appends.unchecked.clear()
        safe.release()
        return _wait(request, appends, answered)


async def _produce_whole(broker: Broker, request: ProduceRequest, call: Call) -> Awaited:
    refused: Mapping[Key, ApiError] = {}
    if request.transactional_id is not None:
        refused = await transactional.join(broker, request, call.version)
    appends = append_all(broker, request, call, refused)
    safe = SafeAnswer(broker, request, call, appends.response, appends.waiting, held=True)
    answered = future_of(safe.later)
    return await _produce_unchecked(broker, request, call, appends, safe, answered)


async def _produce_unchecked(
    broker: Broker,
    request: ProduceRequest,
    call: Call,
    appends: Appends,
    safe: SafeAnswer,
    answered: asyncio.Future[ProduceResponse],
) -> Awaited:
    """What was too much for the loop is checked by a thread, and appended after all."""
    response, _, unchecked = appends
    while unchecked:
        topic, data, place, guard = unchecked.pop(0)
        waiting: list[Waiting] = []
        answer = await _check_and_append(
            broker, topic, data, guard, call, request.acks, waiting, unchecked
        )
        safe.add(waiting)
        _replace(response, place, answer)
    safe.release()
    return partial(_wait, request, appends, answered)


async def _check_and_append(
    broker: Broker,
    topic: TopicProduceData,
    data: PartitionProduceData,
    guard: Guard,
    call: Call,
    acks: int,
    waiting: list[Waiting],
    unchecked: list[Unchecked],
) -> PartitionProduceResponse:
    try:
        # The topic may have gone meanwhile, and goes perhaps while the thread is at work.
        partition = _find(broker, topic, data, call.version)
        records = _checked(data.records, call.version)
        check = partition.log.append_check.begin(records, broker.clock.now_ms())
        await broker.parked.check(check)
        transactional.check_open(partition, records, guard, call.version)
    except (ApiError, StorageError) as error:
        return _failed(broker, data.index, error)
    now_ms = broker.clock.now_ms()
    return _append(broker, topic, data, call, acks, now_ms, waiting, unchecked, check)


async def _wait(
    request: ProduceRequest, appends: Appends, answered: asyncio.Future[ProduceResponse]
) -> ProduceResponse | None:
    if request.acks == 0:
        answered.cancel()
        _hang_up_on_error(appends.response)
        return None
    return await answered


def _replace(
    response: ProduceResponse, place: PartitionProduceResponse, answer: PartitionProduceResponse
) -> None:
    for topic in response.responses:
        answers = topic.partition_responses
        for position, one in enumerate(answers):
            if one is place:
                answers[position] = answer
                return


def _checked(records: Buffer | None, version: int) -> memoryview:
    if not isinstance(records, memoryview) or len(records) < BATCH_OVERHEAD:
        raise ApiError(
            ErrorCode.INVALID_RECORD,
            f"Produce requests with version {version} must have exactly one record batch "
            "per partition",
        )
    if records[MAGIC] != MAGIC_V2:
        raise ApiError(
            ErrorCode.INVALID_RECORD if records[MAGIC] < MAGIC_V2 else ErrorCode.CORRUPT_MESSAGE,
            f"Produce requests with version {version} are only allowed to contain record "
            f"batches with magic version 2",
        )
    if version < ZSTD_FROM and records[ATTRIBUTES + 1] & CODEC_MASK == ZSTD:
        raise ApiError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"Produce requests with version {version} are not allowed to use ZStandard compression",
        )
    return records


def _failed(broker: Broker, index: int, error: ApiError | StorageError) -> PartitionProduceResponse:
    code = code_of(error)
    broker.metrics.count_error("Produce", code.name)
    answer = PartitionProduceResponse(
        index=index,
        error_code=code,
        base_offset=-1,
        error_message=error.message if isinstance(error, ApiError) else str(error),
    )
    if isinstance(error, RejectedRecords):
        answer.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=error.message)
            for index in error.indexes
        ]
    return answer


def _measure(
    broker: Broker, topic: str, client: ClientState, records: memoryview, result: AppendResult
) -> None:
    metrics = broker.metrics
    size_bytes, count = len(records), result.last_offset - result.first_offset + 1
    metrics.bytes_in += size_bytes
    metrics.messages_in += count
    metrics.produce_batches += 1
    if metrics.traffic is not None:
        who = client.principal.name
        metrics.traffic.note(topic, who, client.client_id or "", size_bytes, count)


def _hang_up_on_error(response: ProduceResponse) -> None:
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code:
                code = ErrorCode(partition.error_code)
                raise UnacknowledgedFailure(f"produce with acks=0 failed: {code.name}")


def _refuse(request: ProduceRequest, code: ErrorCode) -> ProduceResponse:
    refusal = _reject(request, code)
    if request.acks == 0:
        _hang_up_on_error(refusal)
    return refusal


def _reject_acks(broker: Broker, request: ProduceRequest, version: int) -> ProduceResponse:
    """A partition that there is not is refused as such."""
    response = _reject(request, ErrorCode.INVALID_REQUIRED_ACKS)
    for topic, answer in zip(request.topic_data, response.responses, strict=True):
        for data, told in zip(topic.partition_data, answer.partition_responses, strict=True):
            try:
                _find(broker, topic, data, version)
            except ApiError as error:
                if error.code is not ErrorCode.NOT_LEADER_OR_FOLLOWER:
                    told.error_code = error.code
    return response


def _reject(request: ProduceRequest, code: ErrorCode) -> ProduceResponse:
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    PartitionProduceResponse(index=data.index, error_code=code, base_offset=-1)
                    for data in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )
