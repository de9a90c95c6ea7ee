"""Transactions: requests that do not fit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from penstock.model.error import ErrorCode
from tests.conformance.clients.routed_wire import RoutedWire
from tests.conformance.clients.transaction_wire import (
    END_VERSIONS,
    NEW,
    OLD,
    PRODUCE_VERSIONS,
    RawProducer,
    fetch_committed,
    init,
    settled,
)
from tests.conformance.conftest import Cluster
from tests.node.wire_kit import Wire, batch, produce, produced, values
from tests.patience import wait_until

pytestmark = pytest.mark.client("raw requests")
MakeTopic = Callable[..., str]
OLD_END, NEW_END = END_VERSIONS[OLD], END_VERSIONS[NEW]
OLD_PRODUCE, NEW_PRODUCE = PRODUCE_VERSIONS[OLD], PRODUCE_VERSIONS[NEW]


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    with RoutedWire(cluster.bootstrap_servers) as wire:
        yield wire


@pytest.fixture
def producer(wire: Wire, topic: str) -> RawProducer:
    producer = RawProducer.start(wire, topic)
    # A new topic's leader is known a moment before it leads: wait for that with a refusal.
    settled(lambda: producer.but(epoch=-1).send(topic, b"never"))
    return producer


def committed(wire: Wire, topic: str) -> list[bytes | None]:
    return values(fetch_committed(wire, topic))


# --- InitProducerId ---


@pytest.mark.feature("InitProducerId: an empty id, half an identity, timeouts out of range")
def test_init_invalid(wire: Wire, producer: RawProducer) -> None:
    name = producer.transactional_id
    found = {
        "empty id": init(wire, "").error_code,
        "id without epoch": init(wire, name, producer_id=1).error_code,
        "epoch without id": init(wire, name, epoch=1).error_code,
        "timeout 0": init(wire, name, timeout_ms=0).error_code,
        "timeout too long": init(wire, name, timeout_ms=900_001).error_code,
    }
    assert found == {
        "empty id": ErrorCode.INVALID_REQUEST,
        "id without epoch": ErrorCode.INVALID_REQUEST,
        "epoch without id": ErrorCode.INVALID_REQUEST,
        "timeout 0": ErrorCode.INVALID_TRANSACTION_TIMEOUT,
        "timeout too long": ErrorCode.INVALID_TRANSACTION_TIMEOUT,
    }


@pytest.mark.feature("InitProducerId: each start raises the epoch; a foreign identity is fenced")
def test_init_epochs(wire: Wire, producer: RawProducer) -> None:
    name, own = producer.transactional_id, producer.producer_id
    again = settled(lambda: init(wire, name))
    assert (again.producer_id, again.producer_epoch) == (own, producer.epoch + 1)
    raised = init(wire, name, producer_id=own, epoch=again.producer_epoch)
    assert (raised.error_code, raised.producer_epoch) == (0, again.producer_epoch + 1)
    # Its answer might have been lost: asked again, it is the same.
    repeated = init(wire, name, producer_id=own, epoch=again.producer_epoch)
    assert (repeated.error_code, repeated.producer_epoch) == (0, raised.producer_epoch)
    fenced = [
        init(wire, name, producer_id=own, epoch=producer.epoch).error_code,
        init(wire, name, producer_id=own + 10**6, epoch=0).error_code,
        init(wire, name, producer_id=own, epoch=producer.epoch, version=3).error_code,
    ]
    assert fenced == [
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
    ]


# --- AddPartitionsToTxn ---


@pytest.mark.feature("AddPartitionsToTxn: unknown ids, stale and future epochs, unknown topics")
def test_add_refused(producer: RawProducer, topic: str) -> None:
    found = {
        "unknown id": producer.but(transactional_id=topic + "-x").add(topic),
        "foreign producer": producer.but(producer_id=producer.producer_id + 10**6).add(topic),
        "stale epoch": producer.but(epoch=producer.epoch - 1).add(topic),
        "stale epoch, older": producer.but(epoch=producer.epoch - 1).add(topic, version=1),
        "future epoch": producer.but(epoch=producer.epoch + 1).add(topic),
        "unknown topic": producer.add(topic + "-x"),
        "beside an unknown one": producer.add(topic, (99, 0)),
        "empty id": producer.but(transactional_id="").add(topic),
    }
    assert found == {
        "unknown id": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        "foreign producer": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        "stale epoch": ErrorCode.PRODUCER_FENCED,
        "stale epoch, older": ErrorCode.INVALID_PRODUCER_EPOCH,
        "future epoch": ErrorCode.PRODUCER_FENCED,
        "unknown topic": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "beside an unknown one": ErrorCode.OPERATION_NOT_ATTEMPTED,
        "empty id": ErrorCode.INVALID_REQUEST,
    }


# --- EndTxn ---


@pytest.mark.feature("EndTxn: without a transaction, unknown ids, stale epochs")
def test_end_refused(producer: RawProducer, topic: str) -> None:
    stale = producer.but(epoch=producer.epoch - 1)
    found = {
        "commit of nothing": producer.end(True).error_code,
        "commit of nothing, older": producer.end(True, OLD_END).error_code,
        "abort of nothing, older": producer.end(False, OLD_END).error_code,
        "unknown id": producer.but(transactional_id=topic + "-x").end(True).error_code,
        "foreign producer": producer.but(producer_id=10**9).end(True).error_code,
        "stale epoch": stale.end(True).error_code,
        "stale epoch, oldest": stale.end(True, 1).error_code,
        "empty id": producer.but(transactional_id="").end(True).error_code,
    }
    assert found == {
        "commit of nothing": ErrorCode.INVALID_TXN_STATE,
        "commit of nothing, older": ErrorCode.INVALID_TXN_STATE,
        "abort of nothing, older": ErrorCode.INVALID_TXN_STATE,
        "unknown id": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        "foreign producer": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        "stale epoch": ErrorCode.PRODUCER_FENCED,
        "stale epoch, oldest": ErrorCode.INVALID_PRODUCER_EPOCH,
        "empty id": ErrorCode.INVALID_REQUEST,
    }


@pytest.mark.feature("EndTxn: asked again it has the same answer, the other end is refused")
def test_end_again(wire: Wire, producer: RawProducer, topic: str) -> None:
    assert settled(lambda: producer.send(topic, b"a")) == ErrorCode.NONE
    after = producer.commit()
    assert (after.producer_id, after.epoch) == (producer.producer_id, producer.epoch + 1)
    assert producer.commit() == after
    assert settled(lambda: producer.end(False)).error_code == ErrorCode.INVALID_TXN_STATE
    older = RawProducer.start(wire, topic + "-older")
    assert settled(lambda: older.add(topic)) == ErrorCode.NONE
    older.commit(OLD_END)
    older.commit(OLD_END)
    assert settled(lambda: older.end(False, OLD_END)).error_code == ErrorCode.INVALID_TXN_STATE


@pytest.mark.feature("EndTxn: an abort of nothing raises the epoch in transaction version 2")
def test_abort_nothing(producer: RawProducer) -> None:
    answer = settled(lambda: producer.end(False))
    assert (answer.error_code, answer.producer_epoch) == (0, producer.epoch + 1)


# --- Produce ---


@pytest.mark.feature("Produce: of version 12 on, the partition is added with the first batch")
def test_implicit_add(wire: Wire, producer: RawProducer, topic: str) -> None:
    assert settled(lambda: producer.send(topic, b"a")) == ErrorCode.NONE
    assert producer.send(topic, b"b", sequence=1) == ErrorCode.NONE
    assert committed(wire, topic) == []
    after = producer.commit()
    wait_until(lambda: committed(wire, topic) == [b"a", b"b"])
    # The next transaction has the next epoch and begins a new sequence.
    assert settled(lambda: after.send(topic, b"c")) == ErrorCode.NONE
    after.commit()
    wait_until(lambda: committed(wire, topic) == [b"a", b"b", b"c"])


@pytest.mark.feature("Produce: into a partition that was not added, by version")
def test_not_added(wire: Wire, producer: RawProducer, topic: str) -> None:
    assert producer.send(topic, b"a", version=OLD_PRODUCE) == ErrorCode.TRANSACTION_ABORTABLE
    assert producer.send(topic, b"a", version=10) == ErrorCode.INVALID_TXN_STATE
    # Nothing was written, so nothing holds the readers back.
    plain = produce(topic, batch(b"plain"))
    assert produced(wire.call(plain, OLD_PRODUCE)).base_offset == 0
    assert committed(wire, topic) == [b"plain"]


@pytest.mark.feature("Produce: stale epochs, unknown ids, a foreign producer id, no transaction")
def test_produce_refused(wire: Wire, producer: RawProducer, topic: str) -> None:
    stale = producer.but(epoch=producer.epoch - 1)
    foreign = producer.but(producer_id=producer.producer_id + 10**6)
    unknown = producer.but(transactional_id=topic + "-x")
    found = {
        "stale epoch": stale.send(topic, b"a"),
        "stale epoch, older": stale.send(topic, b"a", version=OLD_PRODUCE),
        "foreign producer": foreign.send(topic, b"a"),
        "foreign producer, older": foreign.send(topic, b"a", version=OLD_PRODUCE),
        "unknown id": unknown.send(topic, b"a"),
        "unknown id, older": unknown.send(topic, b"a", version=OLD_PRODUCE),
        "unknown topic": producer.send(topic + "-x", b"a"),
    }
    assert found == {
        "stale epoch": ErrorCode.INVALID_PRODUCER_EPOCH,
        "stale epoch, older": ErrorCode.INVALID_PRODUCER_EPOCH,
        "foreign producer": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        "foreign producer, older": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        "unknown id": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        "unknown id, older": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        "unknown topic": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


@pytest.mark.feature("Produce: a transactional batch without a transactional id")
def test_no_transactional_id(wire: Wire, producer: RawProducer, topic: str) -> None:
    data = batch(
        b"a",
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        base_sequence=0,
        is_transactional=True,
    )
    found = [
        produced(wire.call(produce(topic, data), version)).error_code
        for version in (OLD_PRODUCE, NEW_PRODUCE)
    ]
    assert found == [ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED] * 2


@pytest.mark.feature("Produce: plain batches of a producer with an open transaction are refused")
def test_plain_inside(wire: Wire, producer: RawProducer, topic: str) -> None:
    assert settled(lambda: producer.send(topic, b"a")) == ErrorCode.NONE
    data = batch(
        b"b", producer_id=producer.producer_id, producer_epoch=producer.epoch, base_sequence=1
    )
    answer = produced(wire.call(produce(topic, data), NEW_PRODUCE))
    assert answer.error_code == ErrorCode.INVALID_TXN_STATE
    producer.commit()


@pytest.mark.feature("Produce: repeated batches are recognised, gaps refused, inside a transaction")
def test_sequences(wire: Wire, producer: RawProducer, topic: str) -> None:
    assert settled(lambda: producer.send(topic, b"a")) == ErrorCode.NONE
    assert producer.send(topic, b"a") == ErrorCode.NONE
    assert producer.send(topic, b"c", sequence=2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.send(topic, b"b", sequence=1) == ErrorCode.NONE
    after = producer.commit()
    wait_until(lambda: committed(wire, topic) == [b"a", b"b"])
    # A late batch of the transaction that has ended, again and anew.
    assert producer.send(topic, b"b", sequence=1) != ErrorCode.NONE
    assert producer.send(topic, b"late", sequence=2) != ErrorCode.NONE
    first = settled(lambda: after.send(topic, b"x", sequence=7))
    assert first == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    settled(lambda: after.end(False))
    assert committed(wire, topic) == [b"a", b"b"]


# --- time ---


@pytest.mark.feature("After the timeout: what a late producer is told")
def test_after_timeout(wire: Wire, topic: str) -> None:
    producer = RawProducer.start(wire, topic, timeout_ms=300)
    assert settled(lambda: producer.send(topic, b"a")) == ErrorCode.NONE
    plain = produce(topic, batch(b"plain"))
    assert produced(wire.call(plain, OLD_PRODUCE)).error_code == ErrorCode.NONE
    wait_until(lambda: committed(wire, topic) != [])
    assert committed(wire, topic)[-1:] == [b"plain"]
    time.sleep(0.1)
    found = {
        "produce": producer.send(topic, b"b", sequence=1),
        "add": producer.add(topic),
        "commit": producer.end(True).error_code,
        "commit, older": producer.end(True, OLD_END).error_code,
        "abort": producer.end(False).error_code,
    }
    # An end by version 2 is taken for one asked again: aborted it was, committed it cannot be.
    assert found == {
        "produce": ErrorCode.INVALID_PRODUCER_EPOCH,
        "add": ErrorCode.PRODUCER_FENCED,
        "commit": ErrorCode.INVALID_TXN_STATE,
        "commit, older": ErrorCode.PRODUCER_FENCED,
        "abort": ErrorCode.NONE,
    }


@pytest.mark.feature("read_committed fetches name the aborted transactions")
def test_aborted_list(wire: Wire, producer: RawProducer, topic: str) -> None:
    assert settled(lambda: producer.send(topic, b"a", b"b")) == ErrorCode.NONE
    assert fetch_committed(wire, topic).last_stable_offset == 0
    answer = settled(lambda: producer.end(False))
    assert answer.error_code == ErrorCode.NONE
    wait_until(lambda: fetch_committed(wire, topic).last_stable_offset == 3)
    found = fetch_committed(wire, topic)
    assert found.high_watermark == 3
    assert [(one.producer_id, one.first_offset) for one in found.aborted_transactions] == [
        (producer.producer_id, 0)
    ]
