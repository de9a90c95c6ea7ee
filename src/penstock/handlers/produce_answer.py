"""The answer to a produce that has to wait: for the disk, for followers, or for its deadline."""

from __future__ import annotations

import asyncio

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.handlers.current_leader import tell_leaders
from penstock.model.error import ApiError, ErrorCode
from penstock.network.later import Later
from penstock.protocol.messages.produce import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)
from penstock.replication.partition import Partition
from penstock.storage.log import AppendResult

LEADER_TOLD_FROM = 10

Waiting = tuple[Partition, AppendResult, PartitionProduceResponse]


class SafeAnswer:
    """A response that goes out when all of it is as safe as was asked for, and nobody holds it.

    Followers may take longer than the producer wants to wait: then it is told so. The disk is
    waited for however long it takes."""

    __slots__ = (
        "_acks",
        "_broker",
        "_call",
        "_has_failed",
        "_held",
        "_left",
        "_response",
        "_timeout_s",
        "_timer",
        "_waiting",
        "later",
    )

    def __init__(
        self,
        broker: Broker,
        request: ProduceRequest,
        call: Call,
        response: ProduceResponse,
        waiting: list[Waiting],
        *,
        held: bool = False,
    ) -> None:
        self.later: Later[ProduceResponse] = Later()
        self._broker = broker
        self._call = call
        self._acks = request.acks
        self._timeout_s = request.timeout_ms / 1000
        self._timer: asyncio.TimerHandle | None = None
        self._response = response
        self._waiting: list[Waiting] = []
        # Not a count: one whose time is up may still be acknowledged, and that is nobody else's.
        self._left: set[Partition] = set()
        self._held = held
        # While it is held, others than those that are waited for may fail.
        self._has_failed = held
        self.add(waiting)

    def add(self, waiting: list[Waiting]) -> None:
        self._waiting += waiting
        self._left.update(partition for partition, _, _ in waiting)
        for partition, result, _ in waiting:
            if self._timer is None and partition.leader is not None:
                self._timer = self._broker.loop.call_later(self._timeout_s, self._on_timeout)
            partition.await_acknowledged(result.last_offset + 1, self, self._acks)

    @property
    def is_settled(self) -> bool:
        """Whether nothing of it is waited for: then nobody is told of it any more."""
        return not self._left and not self._held

    def release(self) -> None:
        self._held = False
        if not self._left:
            self._settle()

    def on_acknowledged(self, partition: Partition) -> None:
        self._left.discard(partition)
        if not self._left and not self._held:
            self._settle()

    def on_unacknowledged(self, partition: Partition, error: Exception) -> None:
        if not isinstance(error, ApiError):
            error = ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
        self._has_failed = True
        for waiting, _, answer in self._waiting:
            if waiting is partition:
                turn_into_failure(answer, error)
        self.on_acknowledged(partition)

    def _on_timeout(self) -> None:
        """Who is acknowledged after this, is told to nobody. What is added later has a time of its
        own."""
        self._timer = None
        self._left.clear()
        for partition, result, answer in self._waiting:
            if answer.error_code or not partition.is_led:
                continue
            if not partition.is_acknowledged(result.last_offset + 1, self._acks):
                turn_into_failure(answer, ApiError(ErrorCode.REQUEST_TIMED_OUT))
        if not self._held:
            self._settle()

    def _settle(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._has_failed:
            name_leaders(self._broker, self._response, self._call)
        self.later.settle(self._response)


def turn_into_failure(answer: PartitionProduceResponse, error: ApiError) -> None:
    answer.error_code = error.code
    answer.error_message = error.message
    answer.base_offset = -1
    answer.log_append_time_ms = -1
    answer.log_start_offset = -1


def name_leaders(broker: Broker, response: ProduceResponse, call: Call) -> None:
    """Of partitions that are led elsewhere, or have come to be while they were waited for."""
    if call.version < LEADER_TOLD_FROM:
        return
    refused = [
        (topic.name, topic.topic_id, answer.index, answer)
        for topic in response.responses
        for answer in topic.partition_responses
        if answer.error_code
    ]
    if refused:
        listener = call.client.listener
        response.node_endpoints = [
            NodeEndpoint(node_id=one.broker_id, host=one.host, port=one.port, rack=one.rack)
            for one in tell_leaders(broker, listener, refused, LeaderIdAndEpoch)
        ]
