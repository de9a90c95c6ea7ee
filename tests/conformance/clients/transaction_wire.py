"""A transactional producer that sends any request at any time, and tells the error codes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.model.error import ErrorCode
from penstock.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from penstock.records.builder import build_batch
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.node.wire_kit import Wire, fetch, fetched, part, produce, produced, records

TRANSACTION = 1
GROUP = 0
OLD, NEW = 0, 2
"""Transaction versions: with OLD the client adds partitions itself; NEW leaves it to the broker."""
INIT_VERSION = 5
ADD_VERSION = 3
END_VERSIONS = {OLD: 4, NEW: 5}
PRODUCE_VERSIONS = {OLD: 11, NEW: 12}
OFFSET_COMMIT_VERSIONS = {OLD: 4, NEW: 5}

WAIT = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        # A new topic's leader is known a moment before it leads.
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        # Nodes that were stopped together come back one by one.
        ErrorCode.NOT_ENOUGH_REPLICAS,
    }
)


def settled(ask: Callable[[], Any]) -> Any:
    """The first answer that is not "ask again", by its error_code."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        answer = ask()
        code = answer if isinstance(answer, int) else answer.error_code
        if code not in WAIT:
            return answer
        assert time.monotonic() < deadline, "it did not settle in time"
        time.sleep(0.02)


def find_coordinator(wire: Wire, kind: int, name: str) -> None:
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[name])
    settled(lambda: wire.call(request, 6).coordinators[0])


def init(
    wire: Wire,
    transactional_id: str,
    *,
    timeout_ms: int = 60_000,
    producer_id: int = -1,
    epoch: int = -1,
    version: int = INIT_VERSION,
) -> Any:
    return wire.call(
        InitProducerIdRequest(
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=producer_id,
            producer_epoch=epoch,
        ),
        version,
    )


@dataclass(frozen=True)
class RawProducer:
    wire: Wire
    transactional_id: str
    producer_id: int
    epoch: int

    @classmethod
    def start(cls, wire: Wire, transactional_id: str, **options: Any) -> RawProducer:
        find_coordinator(wire, TRANSACTION, transactional_id)
        answer = settled(lambda: init(wire, transactional_id, **options))
        assert answer.error_code == ErrorCode.NONE
        return cls(wire, transactional_id, answer.producer_id, answer.producer_epoch)

    def but(self, **changes: Any) -> RawProducer:
        return replace(self, **changes)

    def add(self, topic: str, partitions: Sequence[int] = (0,), version: int = ADD_VERSION) -> int:
        """The error of the last partition."""
        answer = self.wire.call(
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.transactional_id,
                v3_and_below_producer_id=self.producer_id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=[
                    AddPartitionsToTxnTopic(name=topic, partitions=list(partitions))
                ],
            ),
            version,
        )
        results = answer.results_by_topic_v3_and_below[0].results_by_partition
        return int(
            {one.partition_index: one for one in results}[partitions[-1]].partition_error_code
        )

    def send(
        self,
        topic: str,
        *values: bytes,
        sequence: int = 0,
        partition: int = 0,
        version: int = PRODUCE_VERSIONS[NEW],
    ) -> int:
        # Markers bear the time of today: with older records they would begin a new segment.
        data = build_batch(
            records(values, int(time.time() * 1000)),
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        request = produce(topic, data, partition, transactional_id=self.transactional_id)
        return int(produced(self.wire.call(request, version)).error_code)

    def end(self, committed: bool, version: int = END_VERSIONS[NEW]) -> Any:
        return self.wire.call(
            EndTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                committed=committed,
            ),
            version,
        )

    def commit(self, version: int = END_VERSIONS[NEW]) -> RawProducer:
        """Who it is for its next transaction."""
        answer = settled(lambda: self.end(True, version))
        assert answer.error_code == ErrorCode.NONE
        if version < END_VERSIONS[NEW]:
            return self
        return self.but(producer_id=answer.producer_id, epoch=answer.producer_epoch)

    def add_offsets(self, group: str, version: int = 3) -> int:
        answer = self.wire.call(
            AddOffsetsToTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                group_id=group,
            ),
            version,
        )
        return int(answer.error_code)

    def commit_offset(
        self,
        group: str,
        topic: str,
        offset: int,
        *,
        version: int = OFFSET_COMMIT_VERSIONS[NEW],
        **member: Any,
    ) -> int:
        where = TxnOffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        answer = self.wire.call(
            TxnOffsetCommitRequest(
                transactional_id=self.transactional_id,
                group_id=group,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[where])],
                **member,
            ),
            version,
        )
        return int(answer.topics[0].partitions[0].error_code)


def committed_offset(wire: Wire, group: str, topic: str, *, stable: bool) -> tuple[int, int]:
    """The error code and the offset of partition 0."""
    asked = OffsetFetchRequestGroup(
        group_id=group, topics=[OffsetFetchRequestTopics(name=topic, partition_indexes=[0])]
    )
    answer = wire.call(OffsetFetchRequest(groups=[asked], require_stable=stable), 9).groups[0]
    if answer.error_code:
        return int(answer.error_code), -1
    found = answer.topics[0].partitions[0]
    return int(found.error_code), int(found.committed_offset)


def fetch_committed(wire: Wire, topic: str) -> Any:
    """Partition 0 from its beginning, as read_committed gets it."""
    request = fetch({topic: [part()]}, isolation_level=1)
    return fetched(wire.call(request, 12))[topic, 0]
