"""Producers with an identity, and transactions."""

from __future__ import annotations

from typing import Any

from penstock.protocol.entity import Entity
from penstock.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.protocol.messages.describe_transactions import DescribeTransactionsRequest
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.list_transactions import ListTransactionsRequest
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from penstock.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.authorization.cases import ABSENT, GROUP, TOPIC, TRANSACTION, Scene, case

NOBODYS: dict[str, Any] = {"transactional_id": ABSENT, "producer_id": 1, "producer_epoch": 0}
"""A transactional id that nobody has begun with."""


@case("find the coordinator of a transaction", 10, range(1, 100))
def find_transaction(scene: Scene) -> Entity:
    if scene.version >= 4:
        keys = [TRANSACTION, "other-transaction"]
        return FindCoordinatorRequest(key_type=1, coordinator_keys=keys)
    return FindCoordinatorRequest(key_type=1, key=TRANSACTION)


@case("an id for a producer", 22)
def init_producer_id(scene: Scene) -> Entity:
    return InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)


@case("an id for transactions", 22)
def init_transactional_id(scene: Scene) -> Entity:
    return InitProducerIdRequest(transactional_id=TRANSACTION, transaction_timeout_ms=60_000)


@case("add partitions", 24)
def add_partitions(scene: Scene) -> Entity:
    topics = [AddPartitionsToTxnTopic(name=one, partitions=[0]) for one in (TOPIC, ABSENT)]
    if scene.version >= 4:
        transaction = AddPartitionsToTxnTransaction(**NOBODYS, topics=topics)
        return AddPartitionsToTxnRequest(transactions=[transaction])
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=ABSENT, v3_and_below_topics=topics
    )


@case("add a partition", 24, range(4))
def add_partition(scene: Scene) -> Entity:
    topics = [AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])]
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=ABSENT, v3_and_below_topics=topics
    )


@case("add offsets", 25)
def add_offsets(scene: Scene) -> Entity:
    return AddOffsetsToTxnRequest(**NOBODYS, group_id=GROUP)


@case("end a transaction", 26)
def end_transaction(scene: Scene) -> Entity:
    return EndTxnRequest(**NOBODYS)


@case("write markers", 27)
def write_markers(scene: Scene) -> Entity:
    topics = [WritableTxnMarkerTopic(name=ABSENT, partition_indexes=[0])]
    return WriteTxnMarkersRequest(markers=[WritableTxnMarker(producer_id=1, topics=topics)])


@case("commit offsets in a transaction", 28)
def txn_offset_commit(scene: Scene) -> Entity:
    kept = [TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=0)]
    topics = [TxnOffsetCommitRequestTopic(name=one, partitions=kept) for one in (TOPIC, ABSENT)]
    return TxnOffsetCommitRequest(**NOBODYS, group_id=GROUP, topics=topics)


@case("describe transactions", 65)
def describe_transactions(scene: Scene) -> Entity:
    return DescribeTransactionsRequest(transactional_ids=[TRANSACTION, "other-transaction"])


@case("list transactions", 66)
def list_transactions(scene: Scene) -> Entity:
    return ListTransactionsRequest()
