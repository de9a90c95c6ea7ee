"""One fetch: byte budget, long poll. Records are never read here, only located."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from penstock.handlers.authorization.access import access_of
from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.handlers.current_leader import tell_leaders
from penstock.handlers.fetch_session import FetchTarget
from penstock.handlers.fetch_sessions import FetchContext
from penstock.model.acl import Operation, ResourceType
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
from penstock.replication.divergence import find_divergence
from penstock.replication.leader import Leader
from penstock.replication.partition import READ_COMMITTED, Partition
from penstock.replication.replica_selector import nearest_replica
from penstock.storage.lookup import aborted_txns, last_stable_offset

if TYPE_CHECKING:
    from penstock.security.access import Access

ZSTD_FROM = 10
FOLLOWERS_SERVE_FROM = 11
LEADER_TOLD_FROM = 16
OPENED_MAX = 64
"""Logs that one fetch opens; it is then answered, and the next goes on. A new topic may have
thousands, and nobody else is served meanwhile."""
RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"

_NOT_LOOKED_AT = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    )
)
"""Kafka has no aborted transactions for these, and null for a partition that it failed to read."""

Outcome = tuple[FetchTarget, PartitionData]


class Fetch:
    """A consumer's request, from its first look at the logs to its answer."""

    __slots__ = (
        "_access",
        "_broker",
        "_bytes",
        "_has_unopened",
        "_is_full",
        "_isolation",
        "_later",
        "_listener",
        "_max_bytes",
        "_min_bytes",
        "_opened",
        "_outcomes",
        "_rack",
        "_session",
        "_timer",
        "_version",
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
        self._session, self._is_full = context
        self._isolation = request.isolation_level
        self._max_bytes = min(request.max_bytes, broker.config.fetch_bytes_max)
        self._min_bytes = min(request.min_bytes, self._max_bytes)
        self._access = None if broker.authorizer is None else access_of(broker, call.client)
        self._outcomes: list[Outcome] = []
        self._bytes = 0
        self._opened = 0
        self._has_unopened = False
        self._later: Later[FetchResponse] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._woken = False
        self.is_answerable = False
        self._begin()

    def _begin(self) -> None:
        session = self._session
        session.fetch_as(None, 0)
        if self._access is not None:
            session.fetch_with(self._access)
        if self._rack:
            if self._broker.config.get("replica.selector.class") == RACK_AWARE:
                # Who is nearest depends on other brokers, too: partitions do not hear of that.
                session.stir_all()
            else:
                self._rack = ""

    # Reading

    def read(self) -> None:
        """Locates what there is now. Answerable when there is enough, or something to tell."""
        self._drop()
        self._opened = 0
        self._has_unopened = False
        session = self._session
        answerable = not session.targets
        for target in tuple(session.stirred):
            data = self._read_one(target)
            if data is not None:
                self._outcomes.append((target, data))
                answerable = answerable or _has_news(data)
        self.is_answerable = answerable or self._has_unopened or self._bytes >= self._min_bytes

    def _read_one(self, target: FetchTarget) -> PartitionData | None:
        """None when there is nothing beyond what the client has."""
        target.partition = None
        try:
            if self._access is not None:
                self._check_allowed(self._access, target)
            partition = self._replica_of(target)
            if not partition.is_open and self._is_put_off():
                return None
            target.partition = partition
            self._check_readable(partition)
            if target.current_leader_epoch >= 0:
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
                if self._may_rest(partition, target):
                    self._session.rest(target)
                return None
            return self._locate(partition, target, bound)
        except ApiError as error:
            self._broker.metrics.count_error("Fetch", error.code.name)
            return _failed(target, error.code)
        except StorageError as error:
            key = TopicPartition(partition.topic, partition.index)
            self._broker.log_dirs.fail(key, error)
            return _failed(target, ErrorCode.KAFKA_STORAGE_ERROR)

    def _check_allowed(self, access: Access, target: FetchTarget) -> None:
        """Before anything else: whether there is such a topic is not told to everybody. An id that
        nobody has says nothing, and is refused as such."""
        name = target.topic
        if not name:
            topic = self._broker.image.topics.get_by_id(target.topic_id)
            if topic is None:
                return
            name = topic.name
        if not access.may(Operation.READ, ResourceType.TOPIC, name):
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    def _is_put_off(self) -> bool:
        """Of one more log that is not open. An answer about everything can leave none out."""
        self._opened += 1
        if self._is_full or self._opened <= OPENED_MAX:
            return False
        self._has_unopened = True
        return True

    def _bound(self, partition: Partition, target: FetchTarget) -> int:
        """Up to where it may read, exclusive."""
        return partition.bound(self._isolation)

    def _may_rest(self, partition: Partition, target: FetchTarget) -> bool:
        """Of a client that has everything: whether only news of the partition matter now."""
        return _is_told(partition, target)

    def _replica_of(self, target: FetchTarget) -> Partition:
        """Also one that only follows: its high watermark is never ahead of its leader's."""
        partitions = self._broker.partitions
        if target.topic:
            partition = partitions.get(target.topic, target.index)
        else:
            partition = partitions.get_by_id(target.topic_id, target.index)
        if partition is not None and (partition.is_led or self._version >= FOLLOWERS_SERVE_FROM):
            return partition
        if not self._session.uses_topic_ids:
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
        parted = find_divergence(partition.log, target.offset, target.last_fetched_epoch)
        if parted is None:
            return None
        data = _described(partition, target, self._isolation)
        data.diverging_epoch = EpochEndOffset(epoch=parted.epoch, end_offset=parted.end_offset)
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
        self._session.begin_wait(self)
        return self._later

    def wake(self) -> None:
        """Looks in the next turn of the loop: the producer's answer goes out first, and several
        commits of one turn are one look."""
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
        else:
            self._session.watch_stirred()

    def _on_timeout(self) -> None:
        """Every commit since the last look has asked for another: there is nothing newer."""
        if self._woken:
            self.read()
        self._settle()

    def _settle(self) -> None:
        later = self._later
        answer = self.answer()
        self._end_wait()
        if later is not None:
            later.settle(answer)

    def _stop(self) -> None:
        """The client is gone."""
        self._end_wait()
        self._drop()

    def _end_wait(self) -> None:
        self._later = None
        if self._timer is not None:
            self._timer.cancel()
        self._session.end_wait(self)

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
        session = self._session
        self._broker.metrics.bytes_out += self._bytes
        outcomes = self._complete() if self._is_full else self._changed()
        if session.is_kept:
            for target, data in outcomes:
                target.told_high_watermark = data.high_watermark
                target.told_log_start_offset = data.log_start_offset
                if data.records:
                    session.move_to_end(target)
        response = FetchResponse(session_id=session.id, responses=_by_topic(outcomes))
        if self._version >= LEADER_TOLD_FROM:
            self._tell_leaders(response, outcomes)
        return response

    def _tell_leaders(self, response: FetchResponse, outcomes: Iterable[Outcome]) -> None:
        refused = [
            (target.topic, target.topic_id, target.index, data)
            for target, data in outcomes
            if data.error_code
        ]
        if refused:
            response.node_endpoints = [
                NodeEndpoint(node_id=one.broker_id, host=one.host, port=one.port, rack=one.rack)
                for one in tell_leaders(self._broker, self._listener, refused, LeaderIdAndEpoch)
            ]

    def _complete(self) -> list[Outcome]:
        found = dict(self._outcomes)
        return [
            (target, found.get(target) or self._empty(target))
            for target in self._session.targets.values()
        ]

    def _changed(self) -> list[Outcome]:
        found = dict(self._outcomes)
        changed: list[Outcome] = []
        for target in self._session.stirred:
            data = found.get(target)
            if data is None:
                partition = target.partition
                if partition is None or _is_told(partition, target):
                    continue
                data = _described(partition, target, self._isolation)
            changed.append((target, data))
        return changed

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


def _is_told(partition: Partition, target: FetchTarget) -> bool:
    log = partition.log
    return (
        target.told_high_watermark == log.high_watermark
        and target.told_log_start_offset == log.log_start_offset
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
        aborted_transactions=[] if code in _NOT_LOOKED_AT else None,
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
