"""Transactions: offsets of consumer groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.model.error import ErrorCode
from tests.conformance.clients.membership import Membership, places, wait_shared
from tests.conformance.clients.record import (
    PATIENCE_SECONDS,
    BrokerError,
    Client,
    Record,
    numbered,
    read,
)
from tests.conformance.clients.routed_wire import RoutedWire
from tests.conformance.clients.transaction_set import TransactionSet
from tests.conformance.clients.transaction_wire import (
    GROUP,
    NEW,
    OFFSET_COMMIT_VERSIONS,
    OLD,
    RawProducer,
    committed_offset,
    find_coordinator,
    settled,
)
from tests.conformance.conftest import Cluster
from tests.node.wire_kit import Wire
from tests.patience import wait_until


@pytest.fixture
def transactions(cluster: Cluster) -> Iterator[TransactionSet]:
    transactions = TransactionSet(cluster.bootstrap_servers)
    yield transactions
    transactions.close()


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    with RoutedWire(cluster.bootstrap_servers) as wire:
        yield wire


@pytest.mark.feature("Offsets of a transaction count from its commit on")
def test_commit(
    client: Client, transactions: TransactionSet, wire: Wire, topic: str, group_id: str
) -> None:
    find_coordinator(wire, GROUP, group_id)
    producer = transactions.start(client.name, topic)
    producer.begin()
    producer.send_offsets(group_id, {(topic, 0): 3})
    assert committed_offset(wire, group_id, topic, stable=False) == (0, -1)
    unstable = (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)
    assert committed_offset(wire, group_id, topic, stable=True) == unstable
    producer.commit()
    wait_until(lambda: committed_offset(wire, group_id, topic, stable=True) == (0, 3))


@pytest.mark.feature("Offsets of an aborted transaction never count")
def test_abort(
    client: Client, transactions: TransactionSet, wire: Wire, topic: str, group_id: str
) -> None:
    producer = transactions.start(client.name, topic)
    for offset, end in ((1, producer.commit), (2, producer.abort)):
        producer.begin()
        producer.send_offsets(group_id, {(topic, 0): offset})
        end()
    wait_until(lambda: committed_offset(wire, group_id, topic, stable=True) == (0, 1))


@pytest.mark.feature("Offsets and records of one transaction: copied exactly once")
def test_copy(
    client: Client, transactions: TransactionSet, make_topic: Callable[..., str], group_id: str
) -> None:
    source, sink = make_topic(), make_topic()
    client.produce(source, numbered(30))
    producer = transactions.start(client.name, sink)
    with client.open_reader(source, committed_only=True) as reader:
        for turn in range(6):
            taken = reader.take(5)
            producer.begin()
            producer.send(sink, [Record(one.value) for one in taken])
            producer.send_offsets(group_id, {(source, 0): (taken[-1].offset or 0) + 1})
            if turn % 2:
                producer.abort()
                reader.seek(taken[0].offset or 0)
            else:
                producer.commit()
    seen = read(client, sink, 15, committed_only=True)
    # A turn that was aborted is read again by the next one.
    assert [one.value for one in seen] == [one.value for one in numbered(15)]


@pytest.mark.feature("A group's reader waits for the end of a transaction with its offsets")
@pytest.mark.client("confluent-kafka")
def test_unstable_is_retried(
    cluster: Cluster, transactions: TransactionSet, topic: str, group_id: str
) -> None:
    producer = transactions.start("confluent-kafka", topic, timeout_ms=2_000)
    producer.begin()
    producer.send_offsets(group_id, {(topic, 0): 7})
    transactions.close()
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": group_id,
            "isolation.level": "read_committed",
        }
    )
    try:
        (found,) = consumer.committed([TopicPartition(topic, 0)], timeout=PATIENCE_SECONDS)
    finally:
        consumer.close()
    # The transaction timed out meanwhile, and left no offset.
    assert found.error is None
    assert found.offset < 0


@pytest.mark.feature("Offsets in the name of a member count while it is one, in both protocols")
@pytest.mark.client("confluent-kafka")
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_member(
    protocol: str,
    membership: Membership,
    transactions: TransactionSet,
    wire: Wire,
    topic: str,
    group_id: str,
) -> None:
    member = membership.join("confluent-kafka", group_id, topic, protocol=protocol)
    wait_shared([member], places(topic, 1))
    known_as: Any = member.ask(lambda consumer: consumer.group_metadata())  # type: ignore[attr-defined]
    producer: Any = transactions.start("confluent-kafka", topic)
    producer.begin()
    producer.send_offsets_as(known_as, {(topic, 0): 3})
    producer.commit()
    wait_until(lambda: committed_offset(wire, group_id, topic, stable=True) == (0, 3))
    member.close()
    # Whoever took over meanwhile must not be overruled by what the old one left behind.
    other = membership.join("confluent-kafka", group_id, topic, protocol=protocol)
    wait_shared([other], places(topic, 1))
    producer.begin()
    with pytest.raises(BrokerError) as refused:
        producer.send_offsets_as(known_as, {(topic, 0): 9})
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
    producer.abort()
    assert committed_offset(wire, group_id, topic, stable=True) == (0, 3)


@pytest.mark.feature("Offsets in a transaction, by clients before and of transaction version 2")
@pytest.mark.client("raw requests")
@pytest.mark.parametrize("age", [OLD, NEW], ids=["before", "version2"])
def test_raw_offsets(wire: Wire, topic: str, group_id: str, age: int) -> None:
    producer = RawProducer.start(wire, topic)
    find_coordinator(wire, GROUP, group_id)
    version = OFFSET_COMMIT_VERSIONS[age]
    if age == OLD:
        assert settled(lambda: producer.add_offsets(group_id)) == ErrorCode.NONE
    assert settled(lambda: producer.commit_offset(group_id, topic, 5, version=version)) == 0
    assert committed_offset(wire, group_id, topic, stable=False) == (0, -1)
    producer.commit(version=5 if age == NEW else 4)
    wait_until(lambda: committed_offset(wire, group_id, topic, stable=True) == (0, 5))


@pytest.mark.feature("Refused: a group not added, a stale epoch, an unknown member or generation")
@pytest.mark.client("raw requests")
def test_raw_refused(wire: Wire, topic: str, group_id: str) -> None:
    producer = RawProducer.start(wire, topic)
    find_coordinator(wire, GROUP, group_id)
    assert producer.but(epoch=producer.epoch - 1).add_offsets(group_id) == ErrorCode.PRODUCER_FENCED
    assert producer.but(producer_id=10**9).add_offsets(group_id) == (
        ErrorCode.INVALID_PRODUCER_ID_MAPPING
    )
    assert producer.but(transactional_id=topic + "-unknown").add_offsets(group_id) == (
        ErrorCode.INVALID_PRODUCER_ID_MAPPING
    )
    refusals = {
        "not added": settled(lambda: producer.commit_offset(group_id, topic, 5, version=4)),
        "not added, older": settled(lambda: producer.commit_offset(group_id, topic, 5, version=3)),
        "stale epoch": settled(
            lambda: producer.but(epoch=producer.epoch - 1).commit_offset(group_id, topic, 5)
        ),
        "unknown member": settled(
            lambda: producer.commit_offset(group_id, topic, 5, member_id="nobody", generation_id=1)
        ),
    }
    assert refusals == {
        "not added": ErrorCode.TRANSACTION_ABORTABLE,
        "not added, older": ErrorCode.INVALID_TXN_STATE,
        "stale epoch": ErrorCode.INVALID_PRODUCER_EPOCH,
        "unknown member": ErrorCode.ILLEGAL_GENERATION,
    }
