"""One fetch: byte budget, long poll. Records are never read here, only located."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import cast

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.handlers.current_leader import MOVED, CurrentLeader, addresses_of, leader_of
from penstock.handlers.fetch_session import FetchContext, FetchTarget
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.network.later import Later
from penstock.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from penstock.replication.leader import Leader
from penstock.replication.partition import READ_COMMITTED, Partition
from penstock.replication.replica_selector import nearest_replica
from penstock.storage.lookup import aborted_txns, end_offset_for_epoch, last_stable_offset

ZSTD_FROM = 10
FOLLOWERS_SERVE_FROM = 11
LEADER_TOLD_FROM = 16
RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"

Outcome = tuple[FetchTarget, PartitionData]


class Fetch:
    """A consumer's request, from its first look at the logs to its answer."""

    __slots__ = (
        "_broker",
        "_bytes",
        "_context",
        "_isolation",
        "_later",
        "_listener",
        "_max_bytes",
        "_min_bytes",
        "_outcomes",
        "_rack",
        "_timer",
        "_version",
        "_watched",
        "_woken",
        "is_answerable",
    )

    def __init__(
        self, broker: Broker, request: FetchRequest, call: Call, context: FetchContext
    ) -> None:
        self._broker = broker
        self._version = call.version
        self._listener = call.client.listener
        self._rack = request.rack_id
        self._context = context
        self._isolation = request.isolation_level
        self._max_bytes = min(request.max_bytes, broker.config.fetch_bytes_max)
        self._min_bytes = min(request.min_bytes, self._max_bytes)
        self._outcomes: list[Outcome] = []
        self._bytes = 0
        self._later: Later[FetchResponse] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._woken = False
        self._watched: list[Partition] = []
        self.is_answerable = False

    # Reading

    def read(self) -> None:
        """Locates what there is now. Answerable when there is enough, or something to tell."""
        self._drop()
        answerable = not self._context.targets
        for target in self._context.targets:
            data = self._read_one(target)
            if data is None:
                continue
            self._outcomes.append((target, data))
            if (
                data.error_code
                or data.diverging_epoch is not None
                or data.preferred_read_replica >= 0
            ):
                answerable = True
        self.is_answerable = answerable or self._bytes >= self._min_bytes

    def _read_one(self, target: FetchTarget) -> PartitionData | None:
        """None when there is nothing beyond what the client has."""
        try:
            partition = self._replica_of(target)
            self._check_readable(partition)
            partition.check_epoch(target.current_leader_epoch)
            if target.last_fetched_epoch >= 0:
                diverging = self._diverging(partition, target)
                if diverging is not None:
                    return diverging
            if self._rack and partition.leader is not None:
                nearer = self._nearer(partition, partition.leader, target)
                if nearer is not None:
                    return nearer
            bound = self._bound(partition, target)
            if target.offset == bound:
                return None
            return self._locate(partition, target, bound)
        except ApiError as error:
            self._broker.metrics.count_error("Fetch", error.code.name)
            return _failed(target, error.code)
        except StorageError as error:
            key = TopicPartition(partition.topic, partition.index)
            self._broker.log_dirs.fail(key, error)
            return _failed(target, ErrorCode.KAFKA_STORAGE_ERROR)

    def _bound(self, partition: Partition, target: FetchTarget) -> int:
        """Up to where it may read, exclusive."""
        return partition.bound(self._isolation)

    def _replica_of(self, target: FetchTarget) -> Partition:
        """Also one that only follows: its high watermark is never ahead of its leader's."""
        partitions = self._broker.partitions
        if target.topic:
            partition = partitions.get(target.topic, target.index)
        else:
            partition = partitions.get_by_id(target.topic_id, target.index)
        if partition is not None and (partition.is_led or self._version >= FOLLOWERS_SERVE_FROM):
            return partition
        if target.topic:
            raise partitions.refusal_by_name(target.topic, target.index)
        raise partitions.refusal_by_id(target.topic_id, target.index)

    def _find(self, target: FetchTarget) -> Partition:
        partition = self._replica_of(target)
        self._check_readable(partition)
        return partition

    def _check_readable(self, partition: Partition) -> None:
        if self._version < ZSTD_FROM and partition.log.config.compression_type == "zstd":
            raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)

    def _nearer(
        self, partition: Partition, leader: Leader, target: FetchTarget
    ) -> PartitionData | None:
        """Sends a consumer to a replica in its own rack, if there is one in sync (KIP-392)."""
        broker = self._broker
        if broker.config.get("replica.selector.class") != RACK_AWARE:
            return None
        brokers = broker.image.brokers

        def rack_of(broker_id: int) -> str | None:
            image = brokers.get(broker_id)
            return None if image is None else image.rack

        nearest = nearest_replica(leader, brokers.get, rack_of, self._rack, target.offset)
        if nearest == broker.node_id:
            return None
        data = _described(partition, target, self._isolation)
        data.preferred_read_replica = nearest
        return data

    def _diverging(self, partition: Partition, target: FetchTarget) -> PartitionData | None:
        """Tells a client whose history is not ours where the two parted (KIP-595)."""
        epoch, end_offset = end_offset_for_epoch(partition.log, target.last_fetched_epoch)
        if epoch == target.last_fetched_epoch and end_offset >= target.offset:
            return None
        if epoch < 0:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        data = _described(partition, target, self._isolation)
        data.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
        return data

    def _locate(
        self, partition: Partition, target: FetchTarget, bound: int
    ) -> PartitionData | None:
        left = self._max_bytes - self._bytes
        if left <= 0 and self._bytes:
            return None
        result = partition.read(
            target.offset, min(target.max_bytes, left), bound, min_one=not self._bytes
        )
        if not result.size_bytes:
            return None
        data = _described(partition, target, self._isolation)
        # A stretch of the segment file: the writer hands it to the socket undecoded.
        data.records = cast(memoryview, result.slices[0])
        self._bytes += result.size_bytes
        if self._isolation == READ_COMMITTED:
            data.aborted_transactions = [
                AbortedTransaction(producer_id=txn.producer_id, first_offset=txn.first_offset)
                for txn in aborted_txns(partition.log, target.offset, bound)
            ]
        return data

    # Waiting

    def wait_data(self, timeout_s: float) -> Later[FetchResponse]:
        self._later = Later(self._stop)
        self._timer = self._broker.loop.call_later(timeout_s, self._on_timeout)
        self._watch()
        return self._later

    def on_commit(self, partition: Partition) -> None:
        """Looks in the next turn of the loop: the producer's answer goes out first, and several
        commits of one turn are one look."""
        self._wake()

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            self._broker.loop.call_soon(self._look)

    def _look(self) -> None:
        self._woken = False
        if self._later is None:
            return
        self.read()
        if self.is_answerable:
            self._settle()

    def _on_timeout(self) -> None:
        """Every commit since the last look has asked for another: there is nothing newer."""
        if self._woken:
            self.read()
        self._settle()

    def _settle(self) -> None:
        later = self._later
        self._unwatch()
        if later is not None:
            later.settle(self.answer())

    def _stop(self) -> None:
        """The client is gone."""
        self._unwatch()
        self._drop()

    def _watch(self) -> None:
        for target in self._context.targets:
            try:
                partition = self._find(target)
            except ApiError:
                continue
            self._watch_one(partition)
            self._watched.append(partition)

    def _unwatch(self) -> None:
        self._later = None
        if self._timer is not None:
            self._timer.cancel()
        for partition in self._watched:
            self._unwatch_one(partition)
        self._watched.clear()

    def _watch_one(self, partition: Partition) -> None:
        partition.watch(self)

    def _unwatch_one(self, partition: Partition) -> None:
        partition.unwatch(self)

    def _drop(self) -> None:
        """Lets go of what an earlier look located."""
        for _, data in self._outcomes:
            release = getattr(data.records, "release", None)
            if release is not None:
                release()
        self._outcomes.clear()
        self._bytes = 0

    # Answering

    def answer(self) -> FetchResponse:
        context = self._context
        self._broker.metrics.bytes_out += self._bytes
        if context.is_full:
            outcomes = self._complete()
        else:
            outcomes = self._changed()
        session = context.session
        if session is not None:
            for target, data in outcomes:
                target.told_high_watermark = data.high_watermark
                target.told_log_start_offset = data.log_start_offset
                if data.records:
                    session.move_to_end(target)
        response = FetchResponse(session_id=context.session_id, responses=_by_topic(outcomes))
        if self._version >= LEADER_TOLD_FROM:
            self._tell_leaders(response, outcomes)
        return response

    def _tell_leaders(self, response: FetchResponse, outcomes: Iterable[Outcome]) -> None:
        leaders: list[CurrentLeader] = []
        for target, data in outcomes:
            if data.error_code not in MOVED:
                continue
            leader = leader_of(self._broker, target.topic, target.topic_id, target.index)
            if leader is not None:
                leaders.append(leader)
                data.current_leader = LeaderIdAndEpoch(
                    leader_id=leader.broker_id, leader_epoch=leader.epoch
                )
        if leaders:
            response.node_endpoints = [
                NodeEndpoint(node_id=one.broker_id, host=one.host, port=one.port, rack=one.rack)
                for one in addresses_of(self._broker, leaders, self._listener)
            ]

    def _complete(self) -> list[Outcome]:
        found = {id(target): data for target, data in self._outcomes}
        return [
            (target, found.get(id(target)) or self._empty(target))
            for target in self._context.targets
        ]

    def _changed(self) -> list[Outcome]:
        found = {id(target): data for target, data in self._outcomes}
        changed: list[Outcome] = []
        for target in self._context.targets:
            data = found.get(id(target))
            if data is not None:
                changed.append((target, data))
                continue
            partition = self._known(target)
            if partition is not None and (
                partition.high_watermark != target.told_high_watermark
                or partition.log.log_start_offset != target.told_log_start_offset
            ):
                changed.append((target, _described(partition, target, self._isolation)))
        return changed

    def _known(self, target: FetchTarget) -> Partition | None:
        try:
            return self._find(target)
        except ApiError:
            return None

    def _empty(self, target: FetchTarget) -> PartitionData:
        try:
            return _described(self._find(target), target, self._isolation)
        except ApiError as error:
            return _failed(target, error.code)


def _described(partition: Partition, target: FetchTarget, isolation: int) -> PartitionData:
    log = partition.log
    return PartitionData(
        partition_index=target.index,
        high_watermark=log.high_watermark,
        last_stable_offset=last_stable_offset(log),
        log_start_offset=log.log_start_offset,
        aborted_transactions=[] if isolation == READ_COMMITTED else None,
        records=b"",
    )


def _has_news(data: PartitionData) -> bool:
    """Something other than records, which the client is to hear of at once."""
    return bool(
        data.error_code or data.diverging_epoch is not None or data.preferred_read_replica >= 0
    )


def _failed(target: FetchTarget, code: ErrorCode) -> PartitionData:
    return PartitionData(
        partition_index=target.index,
        error_code=code,
        high_watermark=-1,
        last_stable_offset=-1,
        log_start_offset=-1,
        aborted_transactions=None,
        records=b"",
    )


def _by_topic(outcomes: Iterable[Outcome]) -> list[FetchableTopicResponse]:
    topics: dict[str | bytes, FetchableTopicResponse] = {}
    for target, data in outcomes:
        name = target.topic or target.topic_id
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = FetchableTopicResponse(
                topic=target.topic, topic_id=target.topic_id, partitions=[]
            )
        topic.partitions.append(data)
    return list(topics.values())
