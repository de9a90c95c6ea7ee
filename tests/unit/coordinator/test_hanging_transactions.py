"""What once left transactions open for ever, ended the wrong one, or broke a producer's order, with
partitions and coordinators on different brokers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.coordinator.brokers import NoAnswer, NotSpoken
from penstock.coordinator.topic import CONSUMER_OFFSETS, TRANSACTION_STATE
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from penstock.protocol.messages.write_txn_markers import WriteTxnMarkersRequest
from tests.unit.coordinator.client_kit import (
    TxnProducer,
    committed_offset,
    is_stable,
    markers,
    retried,
    values,
)
from tests.unit.coordinator.cluster_kit import DATA, KitCluster, leader_of


@pytest.fixture
def cluster(tmp_path: Path) -> KitCluster:
    return KitCluster(tmp_path)


def data_of(cluster: KitCluster):  # type: ignore[no-untyped-def]
    return leader_of(cluster, DATA).partition(DATA)


async def begin(cluster: KitCluster, version: int, name: str = "tx") -> TxnProducer:
    producer = TxnProducer(cluster, name, version)
    assert await producer.init() == 0
    if version < 2:
        assert await producer.add() == 0
    return producer


@pytest.mark.parametrize("version", [1, 2])
def test_a_produce_that_is_verified_past_the_end_is_refused(
    cluster: KitCluster, version: int
) -> None:
    """KIP-890: its records would begin a transaction that nobody ends."""

    async def story(cluster: KitCluster) -> None:
        producer = await begin(cluster, version)
        answered = asyncio.Event()

        async def hold(node_id: int, request: Entity) -> None:
            if isinstance(request, AddPartitionsToTxnRequest):
                await answered.wait()

        cluster.after_call = hold
        late = asyncio.create_task(producer.produce_at(0, b"late"))
        await asyncio.sleep(0.1)
        epoch = producer.epoch
        assert await producer.end(commit=False) == 0
        assert await producer.wait_complete() == "CompleteAbort"
        assert len(markers(data_of(cluster))) == 1
        answered.set()
        refused = ErrorCode.INVALID_TXN_STATE if version < 2 else ErrorCode.INVALID_PRODUCER_EPOCH
        assert await late == refused
        assert is_stable(data_of(cluster))
        assert values(data_of(cluster)) == []
        assert producer.epoch == (epoch if version < 2 else epoch + 1)

    cluster.run(story)


def test_offsets_that_are_verified_past_the_end_are_refused(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        from penstock.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest

        cluster.move(CONSUMER_OFFSETS, 3)
        producer = TxnProducer(cluster, version=1)
        assert await producer.init() == 0
        request = AddOffsetsToTxnRequest(
            transactional_id="tx",
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            group_id="g",
        )
        assert (await (await producer.coordinator()).ask(request, 3)).error_code == 0
        answered = asyncio.Event()

        async def hold(node_id: int, request: Entity) -> None:
            if isinstance(request, AddPartitionsToTxnRequest):
                await answered.wait()

        cluster.after_call = hold
        late = asyncio.create_task(producer.commit_offset("g", 7))
        await asyncio.sleep(0.1)
        assert await producer.end(commit=True) == 0
        assert await producer.wait_complete() == "CompleteCommit"
        answered.set()
        assert await late == ErrorCode.INVALID_TXN_STATE
        assert is_stable(leader_of(cluster, CONSUMER_OFFSETS).partition(CONSUMER_OFFSETS))
        assert await committed_offset(cluster, "g", require_stable=True) == (-1, 0)

    cluster.run(story)


def test_a_partition_that_was_never_added(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        old = TxnProducer(cluster, version=1)
        assert await old.init() == 0
        assert await old.produce(b"x") == ErrorCode.TRANSACTION_ABORTABLE
        assert values(data_of(cluster)) == []
        # A zombie: its successor has the id by now.
        zombie, heir = TxnProducer(cluster), TxnProducer(cluster)
        assert await zombie.init() == await heir.init() == 0
        assert await zombie.produce(b"x") == ErrorCode.INVALID_PRODUCER_EPOCH
        assert is_stable(data_of(cluster))

    cluster.run(story)


@pytest.mark.parametrize("version", [1, 2])
def test_the_coordinator_is_away_for_the_first_batches(cluster: KitCluster, version: int) -> None:
    """KAFKA-14920: five are in flight, the first cannot be verified, the others can."""

    async def story(cluster: KitCluster) -> None:
        producer = await begin(cluster, version)
        lost = 1

        async def lose(node_id: int, request: Entity) -> None:
            nonlocal lost
            if isinstance(request, AddPartitionsToTxnRequest) and lost:
                lost -= 1
                raise NoAnswer("lost")

        cluster.before_call = lose
        flight = [asyncio.create_task(producer.produce_at(n, b"%d" % n)) for n in range(5)]
        codes = [await one for one in flight]
        assert codes[0] == ErrorCode.NOT_ENOUGH_REPLICAS
        assert codes[1:] == [ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER] * 4
        for n in range(5):
            assert await producer.produce_at(n, b"%d" % n) == 0
        assert values(data_of(cluster)) == [b"0", b"1", b"2", b"3", b"4"]
        assert await producer.end() == 0
        assert await producer.wait_complete() == "CompleteCommit"

    cluster.run(story)


@pytest.mark.parametrize("version", [1, 2])
def test_the_next_transaction_does_not_slip_into_the_last(
    cluster: KitCluster, version: int
) -> None:
    """KAFKA-18575: its first records come while the markers are on their way."""

    async def story(cluster: KitCluster) -> None:
        async def delay(node_id: int, request: Entity) -> None:
            if isinstance(request, WriteTxnMarkersRequest):
                await asyncio.sleep(1)

        producer = await begin(cluster, version)
        assert await producer.produce(b"first") == 0
        cluster.before_call = delay
        assert await producer.end(commit=False) == 0
        if version < 2:
            assert await producer.add() == 0
        else:
            code = await producer.produce(b"second", patient=False)
            assert code == ErrorCode.CONCURRENT_TRANSACTIONS
            producer.sequences.clear()
        assert await producer.produce(b"second") == 0
        assert await producer.end(commit=True) == 0
        assert await producer.wait_complete() == "CompleteCommit"
        assert values(data_of(cluster)) == [b"first", b"second"]
        assert [marker.commit for marker in markers(data_of(cluster))] == [False, True]

    cluster.run(story)


@pytest.mark.parametrize("version", [1, 2])
def test_answers_to_markers_are_lost(cluster: KitCluster, version: int) -> None:
    """KAFKA-19999: the marker is written, nobody knows, and the same comes again."""

    async def story(cluster: KitCluster) -> None:
        lost = 3

        async def lose(node_id: int, request: Entity) -> None:
            nonlocal lost
            if isinstance(request, WriteTxnMarkersRequest) and lost:
                lost -= 1
                raise NoAnswer("lost")

        producer = await begin(cluster, version)
        assert await producer.produce(b"x") == 0
        cluster.after_call = lose
        assert await producer.end() == 0
        assert await producer.wait_complete() == "CompleteCommit"
        assert {marker.commit for marker in markers(data_of(cluster))} == {True}
        assert is_stable(data_of(cluster))

    cluster.run(story)


def test_a_marker_comes_again_in_the_next_transaction(cluster: KitCluster) -> None:
    """KIP-1228: it ends what it was made for, and not that."""

    async def story(cluster: KitCluster) -> None:
        producer = await begin(cluster, 2)
        assert await producer.produce(b"first") == 0
        assert await producer.end() == 0
        assert await producer.wait_complete() == "CompleteCommit"
        again = [one for _, one in cluster.calls if isinstance(one, WriteTxnMarkersRequest)][-1]
        assert await producer.produce(b"second") == 0
        answer = await leader_of(cluster, DATA).ask(again, 2)
        (partition,) = answer.markers[0].topics[0].partitions
        assert partition.error_code == ErrorCode.INVALID_PRODUCER_EPOCH
        assert not is_stable(data_of(cluster))
        assert await producer.end(commit=False) == 0
        assert await producer.wait_complete() == "CompleteAbort"
        assert [marker.commit for marker in markers(data_of(cluster))] == [True, False]

    cluster.run(story)


def test_offsets_count_when_their_transaction_is_complete(cluster: KitCluster) -> None:
    """KAFKA-17507: read at once, from the group's coordinator, which is another broker's."""

    async def story(cluster: KitCluster) -> None:
        cluster.move(CONSUMER_OFFSETS, 3)
        producer = TxnProducer(cluster)
        assert await producer.init() == 0
        for number in range(100):
            assert await producer.commit_offset("g", number) == 0
            assert await producer.end(commit=number % 10 > 0) == 0
            await producer.wait_complete()
            last = number if number % 10 else number - 1
            assert await committed_offset(cluster, "g", require_stable=True) == (last, 0)

    cluster.run(story)


def test_offsets_through_moves_of_both_coordinators(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        async def wander() -> None:
            for step in range(60):
                await asyncio.sleep(0.041)
                cluster.move(CONSUMER_OFFSETS, 1 + step % 3)
                await asyncio.sleep(0.017)
                cluster.move(TRANSACTION_STATE, 1 + (step * 2) % 3)

        wandering = asyncio.create_task(wander())
        producer = TxnProducer(cluster)
        assert await producer.init() == 0
        committed, number = -1, 0
        while not wandering.done():
            number += 1
            assert await producer.commit_offset("g", number) == 0
            commit = number % 3 > 0
            assert await producer.end(commit) == 0
            committed = number if commit else committed
        await producer.wait_complete()
        assert number > 10
        assert await committed_offset(cluster, "g", require_stable=True) == (committed, 0)

    cluster.run(story)


def test_a_timed_out_producer_is_fenced(cluster: KitCluster) -> None:
    """KAFKA-6119: also after its coordinator has moved."""

    async def story(cluster: KitCluster) -> None:
        producer = await begin(cluster, 1)
        assert await producer.produce(b"x") == 0
        cluster.move(TRANSACTION_STATE, 3)
        runtime = await cluster.nodes[3].broker.transactions.wait_runtime("tx")
        deadline = runtime._timers.next_deadline_ms()
        assert deadline is not None
        await asyncio.sleep(61)
        assert await producer.produce(b"y") == ErrorCode.INVALID_PRODUCER_EPOCH
        assert await producer.end() == ErrorCode.PRODUCER_FENCED
        assert is_stable(data_of(cluster))

    cluster.run(story)


def test_a_coordinator_that_cannot_be_asked_is_not_asked(cluster: KitCluster) -> None:
    """A broker too old for verification, as in an upgrade."""

    async def story(cluster: KitCluster) -> None:
        async def refuse(node_id: int, request: Entity) -> None:
            if isinstance(request, AddPartitionsToTxnRequest):
                raise NotSpoken("up to version 3")

        cluster.before_call = refuse
        producer = await begin(cluster, 1)
        assert await producer.produce(b"x") == 0

    cluster.run(story)


def test_nobody_leads_the_transactions(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        producer = await begin(cluster, 2)
        cluster.move(TRANSACTION_STATE, -1)
        code = await producer.produce(b"x", patient=False)
        assert code == ErrorCode.NOT_ENOUGH_REPLICAS
        cluster.move(TRANSACTION_STATE, 3)

        async def ask() -> int:
            return await producer.produce_at(0, b"x")

        assert await retried(ask) == 0

    cluster.run(story)
