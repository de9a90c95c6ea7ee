"""Produce: append each partition's batch, answer when it is as safe as the topic asks."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.handlers import transactional_produce as transactional
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.topology import check_writable
from penstock.model.error import ApiError, ErrorCode, ProtocolError, StorageError
from penstock.network.later import Later
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
from penstock.storage.append_check import RejectedRecords
from penstock.storage.log import AppendResult

TOPIC_IDS_FROM = 13
ZSTD_FROM = 7
ZSTD = 4


class UnacknowledgedFailure(ProtocolError):
    """A client that wants no answers can only be told of an error by hanging up."""


Waiting = tuple[Partition, AppendResult, PartitionProduceResponse]
Key = tuple[int, int]
"""A topic of the request, by identity, and a partition."""


def handle(broker: Broker, request: ProduceRequest, call: Call) -> Answer:
    if request.acks not in (-1, 0, 1):
        return _reject(request, ErrorCode.INVALID_REQUIRED_ACKS)
    if transactional.lacks_id(request):
        refusal = _reject(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        if request.acks == 0:
            _hang_up_on_error(refusal)
        return refusal
    if request.transactional_id is not None and transactional.must_park(broker, request, call):
        return transactional.produce(broker, request, call, append_all)
    return append_all(broker, request, call, {})


def append_all(
    broker: Broker, request: ProduceRequest, call: Call, refused: Mapping[Key, ApiError]
) -> ProduceResponse | Later[ProduceResponse] | None:
    """The ordered part: everything is in the log when this returns, if not on disk."""
    now_ms = broker.clock.now_ms()
    waiting: list[Waiting] = []
    response = ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    _failed(broker, data.index, refused[id(topic), data.index])
                    if refused and (id(topic), data.index) in refused
                    else _append(broker, topic, data, call, now_ms, waiting)
                    for data in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )
    if request.acks == 0:
        _hang_up_on_error(response)
        return None
    if waiting:
        return SafeAnswer(response, waiting).later
    return response


def _append(
    broker: Broker,
    topic: TopicProduceData,
    data: PartitionProduceData,
    call: Call,
    now_ms: int,
    waiting: list[Waiting],
) -> PartitionProduceResponse:
    version = call.version
    try:
        if version >= TOPIC_IDS_FROM:
            partition = broker.partitions.by_id(topic.topic_id, data.index)
        else:
            partition = broker.partitions.by_name(topic.name, data.index)
        records = _checked(data.records, version)
        check_writable(partition.topic, call.client.client_id)
        result = partition.append(records, now_ms)
    except ApiError as error:
        return _failed(broker, data.index, error)
    except StorageError as error:
        broker.log_dir.fail(error)
        return _failed(broker, data.index, ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)))
    if not result.duplicate:
        _measure(broker, records, result)
    answer = PartitionProduceResponse(
        index=data.index,
        base_offset=result.first_offset,
        log_append_time_ms=result.append_time_ms,
        log_start_offset=result.log_start_offset,
    )
    if partition.must_wait(result):
        waiting.append((partition, result, answer))
    return answer


def _checked(records: Buffer | None, version: int) -> memoryview:
    if not isinstance(records, memoryview) or len(records) < BATCH_OVERHEAD:
        raise ApiError(
            ErrorCode.INVALID_RECORD,
            f"Produce requests with version {version} must have exactly one record batch "
            "per partition",
        )
    if records[MAGIC] != MAGIC_V2:
        raise ApiError(
            ErrorCode.INVALID_RECORD,
            f"Produce requests with version {version} are only allowed to contain record "
            f"batches with magic version 2",
        )
    if version < ZSTD_FROM and records[ATTRIBUTES + 1] & CODEC_MASK == ZSTD:
        raise ApiError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"Produce requests with version {version} are not allowed to use ZStandard compression",
        )
    return records


def _failed(broker: Broker, index: int, error: ApiError) -> PartitionProduceResponse:
    broker.metrics.count_error("Produce", error.code.name)
    answer = PartitionProduceResponse(
        index=index,
        error_code=error.code,
        base_offset=-1,
        error_message=error.message,
    )
    if isinstance(error, RejectedRecords):
        answer.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=error.message)
            for index in error.indexes
        ]
    return answer


def _measure(broker: Broker, records: memoryview, result: AppendResult) -> None:
    metrics = broker.metrics
    metrics.bytes_in += len(records)
    metrics.messages_in += result.last_offset - result.first_offset + 1
    metrics.produce_batches += 1


class SafeAnswer:
    """A response that goes out when the last of its partitions is on disk."""

    __slots__ = ("_left", "_response", "_waiting", "later")

    def __init__(self, response: ProduceResponse, waiting: list[Waiting]) -> None:
        self.later: Later[ProduceResponse] = Later()
        self._response = response
        self._waiting = waiting
        self._left = len(waiting)
        for partition, result, _ in waiting:
            partition.await_flush(result.last_offset + 1, self)

    def on_flushed(self, partition: Partition) -> None:
        self._left -= 1
        if not self._left:
            self.later.settle(self._response)

    def on_flush_failed(self, partition: Partition, error: Exception) -> None:
        if not isinstance(error, ApiError):
            error = ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
        for waiting, _, answer in self._waiting:
            if waiting is partition:
                _turn_into_failure(answer, error)
        self.on_flushed(partition)


def _turn_into_failure(answer: PartitionProduceResponse, error: ApiError) -> None:
    answer.error_code = error.code
    answer.error_message = error.message
    answer.base_offset = -1
    answer.log_append_time_ms = -1
    answer.log_start_offset = -1


def _hang_up_on_error(response: ProduceResponse) -> None:
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code:
                code = ErrorCode(partition.error_code)
                raise UnacknowledgedFailure(f"produce with acks=0 failed: {code.name}")


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
