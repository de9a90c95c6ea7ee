"""A transaction's coordinator moves to another broker at every step of it: nothing is lost, nothing
decided twice, and the old coordinator changes nothing any more."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.coordinator.brokers import NoAnswer
from penstock.coordinator.producer_id import AllocateBlock, ProducerIds
from penstock.coordinator.topic import TRANSACTION_STATE
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.protocol.entity import Entity
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.write_txn_markers import WriteTxnMarkersRequest
from penstock.transaction import TransactionRecord
from tests.unit.coordinator.client_kit import TxnProducer, is_stable, markers, retried, values
from tests.unit.coordinator.cluster_kit import DATA, KitCluster, leader_of

VERSIONS = pytest.mark.parametrize("version", [1, 2])


@pytest.fixture
def cluster(tmp_path: Path) -> KitCluster:
    return KitCluster(tmp_path)


async def open_transaction(cluster: KitCluster, version: int = 2) -> TxnProducer:
    producer = TxnProducer(cluster, version=version)
    assert await producer.init() == 0
    if not producer.is_new:
        assert await producer.add() == 0
    assert await producer.produce(b"one") == 0
    return producer


async def check_ended(cluster: KitCluster, producer: TxnProducer, commit: bool = True) -> None:
    outcome = "CompleteCommit" if commit else "CompleteAbort"
    assert await producer.wait_complete() == outcome
    data = leader_of(cluster, DATA).partition(DATA)
    await asyncio.sleep(0.1)
    assert is_stable(data)
    assert {marker.commit for marker in markers(data)} == {commit}


@VERSIONS
@pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
def test_between_the_records_and_the_end(cluster: KitCluster, version: int, commit: bool) -> None:
    async def story(cluster: KitCluster) -> None:
        producer = await open_transaction(cluster, version)
        cluster.move(TRANSACTION_STATE, 3)
        assert await producer.state() == "Ongoing"
        assert await producer.produce(b"two") == 0
        assert await producer.end(commit) == 0
        await check_ended(cluster, producer, commit)
        data = leader_of(cluster, DATA).partition(DATA)
        assert values(data) == [b"one", b"two"]
        assert [marker.coordinator_epoch for marker in markers(data)] == [1]

    cluster.run(story)


@VERSIONS
def test_after_a_decision_that_no_replica_has(cluster: KitCluster, version: int) -> None:
    """It was never told to anybody, and the next coordinator does not know of it."""

    async def story(cluster: KitCluster) -> None:
        producer = await open_transaction(cluster, version)
        cluster.stopped_replicas.add(TRANSACTION_STATE)
        first = await producer.coordinator()
        version_ = 5 if producer.is_new else 4
        asked = asyncio.create_task(first.ask(producer.end_request(False), version_))
        await asyncio.sleep(1)
        assert not asked.done()
        data = leader_of(cluster, DATA).partition(DATA)
        assert markers(data) == []
        cluster.move(TRANSACTION_STATE, 3)
        cluster.stopped_replicas.clear()
        assert (await asked).error_code == ErrorCode.NOT_COORDINATOR
        assert await producer.state() == "Ongoing"
        assert await producer.end(commit=True) == 0
        await check_ended(cluster, producer)

    cluster.run(story)


@VERSIONS
def test_a_decision_that_no_replica_has_while_the_coordinator_is_elected_again(
    cluster: KitCluster, version: int
) -> None:
    """Nothing of it leaves the coordinator: should it lose its office now, nobody knows of it."""

    async def story(cluster: KitCluster) -> None:
        producer = await open_transaction(cluster, version)
        cluster.stopped_replicas.add(TRANSACTION_STATE)
        first = await producer.coordinator()
        version_ = 5 if producer.is_new else 4
        asked = asyncio.create_task(first.ask(producer.end_request(False), version_))
        await asyncio.sleep(1)
        cluster.move(TRANSACTION_STATE, first.id)
        await asyncio.sleep(1)
        data = leader_of(cluster, DATA).partition(DATA)
        assert markers(data) == []
        cluster.stopped_replicas.clear()
        assert (await asked).error_code == 0
        await check_ended(cluster, producer, commit=False)
        assert len(markers(data)) == 1

    cluster.run(story)


@VERSIONS
@pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
def test_between_the_decision_and_the_markers(
    cluster: KitCluster, version: int, commit: bool
) -> None:
    async def story(cluster: KitCluster) -> None:
        async def lose(node_id: int, request: Entity) -> None:
            if isinstance(request, WriteTxnMarkersRequest):
                raise NoAnswer("lost")

        producer = await open_transaction(cluster, version)
        cluster.before_call = lose
        assert await producer.end(commit) == 0
        await asyncio.sleep(1)
        assert (await producer.state()).startswith("Prepare")
        data = leader_of(cluster, DATA).partition(DATA)
        assert not is_stable(data)
        cluster.before_call = None
        cluster.move(TRANSACTION_STATE, 3)
        await check_ended(cluster, producer, commit)
        assert [marker.coordinator_epoch for marker in markers(data)] == [1]

    cluster.run(story)


@VERSIONS
def test_with_half_of_the_markers_written(tmp_path: Path, version: int) -> None:
    cluster = KitCluster(tmp_path)

    async def story(cluster: KitCluster) -> None:
        async def lose(node_id: int, request: Entity) -> None:
            if isinstance(request, WriteTxnMarkersRequest) and node_id == 3:
                raise NoAnswer("lost")

        cluster.delete(DATA)
        cluster.create(DATA, 2, 3)
        cluster.tell()
        producer = TxnProducer(cluster, version=version)
        assert await producer.init() == 0
        for index in (0, 1):
            if not producer.is_new:
                assert await producer.add(index) == 0
            assert await producer.produce(b"x", index=index) == 0
        cluster.before_call = lose
        assert await producer.end() == 0
        await asyncio.sleep(1)
        first, second = (leader_of(cluster, DATA, index).partition(DATA, index) for index in (0, 1))
        assert (len(markers(first)), len(markers(second))) == (1, 0)
        cluster.move(TRANSACTION_STATE, 2)
        cluster.before_call = None
        assert await producer.wait_complete() == "CompleteCommit"
        assert is_stable(first) and is_stable(second)
        assert {marker.commit for marker in (*markers(first), *markers(second))} == {True}
        # A marker that is written twice ends nothing twice: the next transaction is its own.
        if not producer.is_new:
            assert await producer.add() == 0
        assert await producer.produce(b"y") == 0
        assert not is_stable(first)

    cluster.run(story)


def test_a_coordinator_that_was_cut_off_decides_nothing(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        producer = await open_transaction(cluster)
        old = cluster.nodes[1]
        runtime = old.broker.transactions.loaded_of(producer.name)
        assert runtime is not None
        old.is_deaf = True
        cluster.move(TRANSACTION_STATE, 3, isr=[2, 3])
        cluster.move(DATA, 2, isr=[2, 3])
        asked = asyncio.create_task(old.ask(producer.end_request(True), 5))
        await asyncio.sleep(1)
        assert not asked.done(), "written, and never to be committed"
        # The next producer of that name finds the transaction open, and aborts it.
        second = TxnProducer(cluster)
        assert await second.init() == 0
        await check_ended_by_abort(cluster)
        cluster.wake(1)
        assert (await asked).error_code == ErrorCode.NOT_COORDINATOR
        with pytest.raises(StorageError):
            runtime.ask(lambda shard: shard.decide_end(producer.end_request(True), 5, 0))
        await asyncio.sleep(0.1)
        logs = [node.partition(TRANSACTION_STATE).log for node in cluster.nodes.values()]
        assert len({(log.end_offset, log.high_watermark, log.size_bytes) for log in logs}) == 1
        assert await producer.end(True) == ErrorCode.PRODUCER_FENCED

    async def check_ended_by_abort(cluster: KitCluster) -> None:
        data = leader_of(cluster, DATA).partition(DATA)
        assert is_stable(data)
        assert [marker.commit for marker in markers(data)] == [False]

    cluster.run(story)


def test_what_was_built_in_another_epoch_writes_nothing(cluster: KitCluster) -> None:
    """Also where the partition is led here again by then."""

    async def story(cluster: KitCluster) -> None:
        await open_transaction(cluster)
        node = cluster.nodes[1]
        led = node.broker.transactions._led[0]
        assert led.journal is not None
        cluster.move(TRANSACTION_STATE, 3)
        with pytest.raises(ApiError, match="NOT_COORDINATOR"):
            led.journal.append([TransactionRecord("tx", None)])
        cluster.move(TRANSACTION_STATE, 1)
        assert node.partition(TRANSACTION_STATE).is_led
        with pytest.raises(ApiError, match="NOT_COORDINATOR"):
            led.journal.append([TransactionRecord("tx", None)])

    cluster.run(story)


@VERSIONS
def test_markers_of_an_old_coordinator_come_late(cluster: KitCluster, version: int) -> None:
    """They were on their way when the coordinator moved, and arrive in the next transaction."""

    async def story(cluster: KitCluster) -> None:
        late = asyncio.Event()

        async def delay(node_id: int, request: Entity) -> None:
            if isinstance(request, WriteTxnMarkersRequest) and not late.is_set():
                epochs = {marker.coordinator_epoch for marker in request.markers}
                if epochs == {0}:
                    await late.wait()

        answers = []

        async def note(node_id: int, request: Entity) -> None:
            if isinstance(request, WriteTxnMarkersRequest):
                answers.append(request)

        producer = await open_transaction(cluster, version)
        cluster.before_call, cluster.after_call = delay, note
        assert await producer.end() == 0
        await asyncio.sleep(0.1)
        cluster.move(TRANSACTION_STATE, 3)
        assert await producer.wait_complete() == "CompleteCommit"
        if not producer.is_new:
            assert await producer.add() == 0
        assert await producer.produce(b"next") == 0
        data = leader_of(cluster, DATA).partition(DATA)
        assert len(answers) == 1
        late.set()
        await asyncio.sleep(1)
        assert len(answers) == 2
        assert len(markers(data)) == 1 and not is_stable(data)
        assert await producer.end() == 0
        await check_ended(cluster, producer)

    cluster.run(story)


def test_a_coordinator_whose_markers_are_fenced_completes_nothing(cluster: KitCluster) -> None:
    """It has not heard that it is one no longer, and reaches the partition after its successor."""

    async def story(cluster: KitCluster) -> None:
        late = asyncio.Event()

        async def delay(node_id: int, request: Entity) -> None:
            is_marker = isinstance(request, WriteTxnMarkersRequest)
            if is_marker and request.markers[0].coordinator_epoch == 0:
                await late.wait()

        producer = await open_transaction(cluster, version=1)
        cluster.before_call = delay
        assert await producer.end() == 0
        old = cluster.nodes[1]
        runtime = old.broker.transactions.loaded_of(producer.name)
        assert runtime is not None
        old.is_deaf = True
        cluster.move(TRANSACTION_STATE, 3, isr=[2, 3])
        cluster.move(DATA, 2, isr=[2, 3])
        await check_ended(cluster, producer)
        end_offset = old.partition(TRANSACTION_STATE).log.end_offset
        late.set()
        await asyncio.sleep(5)
        assert old.partition(TRANSACTION_STATE).log.end_offset == end_offset
        transaction = runtime.machine.register.find(producer.name)
        assert transaction is not None and transaction.is_completing
        data = leader_of(cluster, DATA).partition(DATA)
        assert [marker.coordinator_epoch for marker in markers(data)] == [1]

    cluster.run(story)


def test_a_producer_asks_on_through_many_moves(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        async def wander() -> None:
            for step in range(40):
                await asyncio.sleep(0.037)
                cluster.move(TRANSACTION_STATE, 1 + step % 3)

        wandering = asyncio.create_task(wander())
        producer = TxnProducer(cluster)
        assert await producer.init() == 0
        for number in range(15):
            assert await producer.produce(b"%d" % number) == 0
            assert await producer.end(commit=number % 3 > 0) == 0
        await wandering
        assert await producer.wait_complete() == "CompleteCommit"
        data = leader_of(cluster, DATA).partition(DATA)
        await asyncio.sleep(0.1)
        assert is_stable(data)
        assert values(data) == [b"%d" % number for number in range(15)]
        ends = [marker.commit for marker in markers(data)]
        assert without_repeats(data) == [number % 3 > 0 for number in range(15)], ends

    cluster.run(story)


def without_repeats(partition: object) -> list[bool]:
    """The end of each transaction that had records: a marker may be written more than once."""
    from tests.unit.coordinator.client_kit import batches

    ends: list[bool] = []
    is_open = False
    for header, _ in batches(partition):  # type: ignore[arg-type]
        if not header.is_control:
            is_open = True
        elif is_open:
            is_open = False
            ends.append(_is_commit(partition, header.base_offset))
    return ends


def _is_commit(partition: object, offset: int) -> bool:
    from penstock.records.control import parse_end_marker
    from penstock.records.record import iter_records
    from tests.unit.coordinator.client_kit import batches

    (marker,) = (
        parse_end_marker(record)
        for header, data in batches(partition)  # type: ignore[arg-type]
        if header.base_offset == offset
        for record in iter_records(data)
    )
    assert marker is not None
    return marker.commit


def test_a_raised_epoch_keeps_the_machine(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        producer = await open_transaction(cluster)
        host = cluster.nodes[1].broker.transactions
        before = host.loaded_of(producer.name)
        cluster.move(TRANSACTION_STATE, 1)
        cluster.move(TRANSACTION_STATE, 1)
        assert host.loaded_of(producer.name) is before
        assert await producer.end() == 0
        await check_ended(cluster, producer)
        data = leader_of(cluster, DATA).partition(DATA)
        assert [marker.coordinator_epoch for marker in markers(data)] == [2]

    cluster.run(story)


def test_an_epoch_is_not_raised_by_a_write_that_failed(cluster: KitCluster) -> None:
    """KAFKA-9666: below the least number of replicas in sync nothing is written."""

    async def story(cluster: KitCluster) -> None:
        producer = TxnProducer(cluster)
        assert await producer.init() == 0
        node = cluster.nodes[1]
        node.partition(TRANSACTION_STATE).min_isr = 2
        cluster.move(TRANSACTION_STATE, 1, isr=[1])
        node.partition(TRANSACTION_STATE).min_isr = 2
        request = InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=60_000)
        for _ in range(3):
            answer = await node.ask(request, 5)
            assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        cluster.move(TRANSACTION_STATE, 1, isr=[1, 2, 3])

        async def ask() -> int:
            return int((await node.ask(request, 5)).error_code)

        assert await retried(ask) == 0
        assert (await node.ask(request, 5)).producer_epoch == 2

    cluster.run(story)


async def _refused() -> range:
    raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "no controller")


async def _unanswered() -> range:
    await asyncio.sleep(60)
    return await _refused()


@VERSIONS
@pytest.mark.parametrize("allocate", [_refused, _unanswered])
def test_to_end_it_needs_no_controller(
    cluster: KitCluster,
    version: int,
    allocate: AllocateBlock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next coordinator has no producer ids yet, and there is nobody to give it some."""

    async def story(cluster: KitCluster) -> None:
        producer = await open_transaction(cluster, version)
        nothing = ProducerIds(allocate)
        monkeypatch.setattr(cluster.nodes[3].broker, "producer_ids", nothing)
        cluster.move(TRANSACTION_STATE, 3)
        assert await producer.end(commit=True) == 0
        await check_ended(cluster, producer)

    cluster.run(story)
