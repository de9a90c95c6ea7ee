"""What is asked of a share coordinator, as a decision of its machine and as a request to a broker.

One share partition at a time: each may have another coordinator. Owns the forms of the messages,
both ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages import (
    delete_share_group_state,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    write_share_group_state,
)
from penstock.share import ShareKey, ShareShard, StateBatch
from penstock.share.kept import KeptState
from penstock.share.shard import Result, ShareDecision, Write


class ShareCall(Protocol):
    needs_topic: ClassVar[bool]
    """Whether the partition has to exist."""

    def decide(self, shard: ShareShard, key: ShareKey, now_ms: int) -> ShareDecision: ...

    def request(self, key: ShareKey) -> Entity: ...

    def result(self, response: Any) -> Result: ...

    def answer(self, partition: int, result: Result) -> Entity: ...


@dataclass(frozen=True, slots=True)
class Initialize:
    state_epoch: int
    start_offset: int
    needs_topic: ClassVar[bool] = True

    def decide(self, shard: ShareShard, key: ShareKey, now_ms: int) -> ShareDecision:
        return shard.decide_initialize(key, self.state_epoch, self.start_offset, now_ms)

    def request(self, key: ShareKey) -> Entity:
        form = initialize_share_group_state
        one = form.PartitionData(
            partition=key.partition, state_epoch=self.state_epoch, start_offset=self.start_offset
        )
        topic = form.InitializeStateData(topic_id=key.topic_id, partitions=[one])
        return form.InitializeShareGroupStateRequest(group_id=key.group_id, topics=[topic])

    def result(self, response: Any) -> Result:
        return _plain(response)

    def answer(self, partition: int, result: Result) -> Entity:
        return initialize_share_group_state.PartitionResult(
            partition=partition, error_code=result.error, error_message=_told(result)
        )


@dataclass(frozen=True, slots=True)
class Read:
    leader_epoch: int
    needs_topic: ClassVar[bool] = False

    def decide(self, shard: ShareShard, key: ShareKey, now_ms: int) -> ShareDecision:
        return shard.decide_read(key, self.leader_epoch)

    def request(self, key: ShareKey) -> Entity:
        form = read_share_group_state
        one = form.PartitionData(partition=key.partition, leader_epoch=self.leader_epoch)
        topic = form.ReadStateData(topic_id=key.topic_id, partitions=[one])
        return form.ReadShareGroupStateRequest(group_id=key.group_id, topics=[topic])

    def result(self, response: Any) -> Result:
        one = _only(response)
        state = KeptState(
            state_epoch=one.state_epoch,
            start_offset=one.start_offset,
            batches=_batches(one.state_batches),
        )
        return Result(ErrorCode(one.error_code), one.error_message, state)

    def answer(self, partition: int, result: Result) -> Entity:
        form, state = read_share_group_state, result.state
        return form.PartitionResult(
            partition=partition,
            error_code=result.error,
            error_message=_told(result),
            state_epoch=state.state_epoch,
            start_offset=state.start_offset,
            state_batches=[
                form.StateBatch(
                    first_offset=one.first,
                    last_offset=one.last,
                    delivery_state=one.state,
                    delivery_count=one.deliveries,
                )
                for one in state.batches
            ],
        )


@dataclass(frozen=True, slots=True)
class Summarize:
    leader_epoch: int = -1
    needs_topic: ClassVar[bool] = True

    def decide(self, shard: ShareShard, key: ShareKey, now_ms: int) -> ShareDecision:
        return shard.decide_summary(key)

    def request(self, key: ShareKey) -> Entity:
        form = read_share_group_state_summary
        one = form.PartitionData(partition=key.partition, leader_epoch=self.leader_epoch)
        topic = form.ReadStateSummaryData(topic_id=key.topic_id, partitions=[one])
        return form.ReadShareGroupStateSummaryRequest(group_id=key.group_id, topics=[topic])

    def result(self, response: Any) -> Result:
        one = _only(response)
        state = KeptState(
            state_epoch=one.state_epoch,
            leader_epoch=one.leader_epoch,
            start_offset=one.start_offset,
            done_count=one.delivery_complete_count,
        )
        return Result(ErrorCode(one.error_code), one.error_message, state)

    def answer(self, partition: int, result: Result) -> Entity:
        return read_share_group_state_summary.PartitionResult(
            partition=partition,
            error_code=result.error,
            error_message=_told(result),
            state_epoch=result.state.state_epoch,
            leader_epoch=result.state.leader_epoch,
            start_offset=result.state.start_offset,
            delivery_complete_count=result.state.done_count,
        )


@dataclass(frozen=True, slots=True)
class Keep:
    write: Write
    needs_topic: ClassVar[bool] = False

    def decide(self, shard: ShareShard, key: ShareKey, now_ms: int) -> ShareDecision:
        return shard.decide_write(key, self.write, now_ms)

    def request(self, key: ShareKey) -> Entity:
        form, write = write_share_group_state, self.write
        one = form.PartitionData(
            partition=key.partition,
            state_epoch=write.state_epoch,
            leader_epoch=write.leader_epoch,
            start_offset=write.start_offset,
            delivery_complete_count=write.done_count,
            state_batches=[
                form.StateBatch(
                    first_offset=batch.first,
                    last_offset=batch.last,
                    delivery_state=batch.state,
                    delivery_count=batch.deliveries,
                )
                for batch in write.batches
            ],
        )
        topic = form.WriteStateData(topic_id=key.topic_id, partitions=[one])
        return form.WriteShareGroupStateRequest(group_id=key.group_id, topics=[topic])

    def result(self, response: Any) -> Result:
        return _plain(response)

    def answer(self, partition: int, result: Result) -> Entity:
        return write_share_group_state.PartitionResult(
            partition=partition, error_code=result.error, error_message=_told(result)
        )


@dataclass(frozen=True, slots=True)
class Delete:
    needs_topic: ClassVar[bool] = True

    def decide(self, shard: ShareShard, key: ShareKey, now_ms: int) -> ShareDecision:
        return shard.decide_delete(key)

    def request(self, key: ShareKey) -> Entity:
        form = delete_share_group_state
        one = form.PartitionData(partition=key.partition)
        topic = form.DeleteStateData(topic_id=key.topic_id, partitions=[one])
        return form.DeleteShareGroupStateRequest(group_id=key.group_id, topics=[topic])

    def result(self, response: Any) -> Result:
        return _plain(response)

    def answer(self, partition: int, result: Result) -> Entity:
        return delete_share_group_state.PartitionResult(
            partition=partition, error_code=result.error, error_message=_told(result)
        )


FORMS: dict[int, tuple[Any, Any, Any]] = {
    83: (
        initialize_share_group_state.InitializeShareGroupStateResponse,
        initialize_share_group_state.InitializeStateResult,
        initialize_share_group_state.PartitionResult,
    ),
    84: (
        read_share_group_state.ReadShareGroupStateResponse,
        read_share_group_state.ReadStateResult,
        read_share_group_state.PartitionResult,
    ),
    85: (
        write_share_group_state.WriteShareGroupStateResponse,
        write_share_group_state.WriteStateResult,
        write_share_group_state.PartitionResult,
    ),
    86: (
        delete_share_group_state.DeleteShareGroupStateResponse,
        delete_share_group_state.DeleteStateResult,
        delete_share_group_state.PartitionResult,
    ),
    87: (
        read_share_group_state_summary.ReadShareGroupStateSummaryResponse,
        read_share_group_state_summary.ReadStateSummaryResult,
        read_share_group_state_summary.PartitionResult,
    ),
}
"""Response, topic and partition of an answer, by the number of the API."""


def asked_calls(topic_partitions: Any, request: Entity) -> Iterator[tuple[int, ShareCall]]:
    """Partitions of one topic of a request, and what is asked of each."""
    for one in topic_partitions:
        yield one.partition, _call_of(request, one)


def _call_of(request: Entity, one: Any) -> ShareCall:
    if isinstance(request, initialize_share_group_state.InitializeShareGroupStateRequest):
        return Initialize(one.state_epoch, one.start_offset)
    if isinstance(request, read_share_group_state.ReadShareGroupStateRequest):
        return Read(one.leader_epoch)
    if isinstance(request, read_share_group_state_summary.ReadShareGroupStateSummaryRequest):
        return Summarize(one.leader_epoch)
    if isinstance(request, delete_share_group_state.DeleteShareGroupStateRequest):
        return Delete()
    return Keep(
        Write(
            one.state_epoch,
            one.leader_epoch,
            one.start_offset,
            one.delivery_complete_count,
            _batches(one.state_batches),
        )
    )


def _batches(found: Any) -> tuple[StateBatch, ...]:
    return tuple(
        StateBatch(one.first_offset, one.last_offset, one.delivery_state, one.delivery_count)
        for one in found
    )


def _only(response: Any) -> Any:
    (topic,) = response.results
    (partition,) = topic.partitions
    return partition


def _plain(response: Any) -> Result:
    one = _only(response)
    return Result(ErrorCode(one.error_code), one.error_message)


def _told(result: Result) -> str | None:
    if result.error is ErrorCode.NONE:
        return None
    return result.message or f"{result.error.name}."
