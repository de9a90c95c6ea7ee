"""Markers and verifications between brokers: gathered per broker, retried and given up as Kafka
does, and answered with what Kafka's coordinators understand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.coordinator.brokers import NoAnswer
from penstock.coordinator.marker import Marker, answer_code
from penstock.coordinator.marker_form import markers_request, markers_results
from penstock.coordinator.topic import CONSUMER_OFFSETS, TRANSACTION_STATE
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.entity import Entity
from penstock.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from penstock.protocol.messages.write_txn_markers import WriteTxnMarkersRequest
from penstock.transaction import Addition, additions_request, additions_results
from tests.unit.coordinator.client_kit import TxnProducer, is_stable, markers
from tests.unit.coordinator.cluster_kit import DATA, KitCluster, leader_of

D0 = TopicPartition(DATA, 0)
D1 = TopicPartition(DATA, 1)


@pytest.fixture
def cluster(tmp_path: Path) -> KitCluster:
    return KitCluster(tmp_path)


class InFlight:
    """How many requests of a kind are under way to each broker, at most."""

    def __init__(self, cluster: KitCluster, kind: type[Entity]) -> None:
        self.now: dict[int, int] = {}
        self.most = self.count = 0
        self._kind = kind
        cluster.before_call, cluster.after_call = self._begin, self._end

    async def _begin(self, node_id: int, request: Entity) -> None:
        if isinstance(request, self._kind):
            self.count += 1
            self.now[node_id] = self.now.get(node_id, 0) + 1
            self.most = max(self.most, self.now[node_id])
            await asyncio.sleep(0.2)

    async def _end(self, node_id: int, request: Entity) -> None:
        if isinstance(request, self._kind):
            self.now[node_id] -= 1


async def producers(cluster: KitCluster, count: int) -> list[TxnProducer]:
    found = [TxnProducer(cluster, f"tx{number}") for number in range(count)]
    for one in found:
        assert await one.init() == 0
    return found


def test_markers_of_many_transactions_share_requests(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        everybody = await producers(cluster, 30)
        for one in everybody:
            assert await one.produce(b"x") == 0
        flights = InFlight(cluster, WriteTxnMarkersRequest)
        await asyncio.gather(*(one.end() for one in everybody))
        assert {await one.wait_complete() for one in everybody} == {"CompleteCommit"}
        assert flights.most == 1
        assert flights.count <= 3
        assert len(markers(leader_of(cluster, DATA).partition(DATA))) == 30

    cluster.run(story)


def test_verifications_of_many_transactions_share_requests(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        everybody = await producers(cluster, 30)
        flights = InFlight(cluster, AddPartitionsToTxnRequest)
        codes = await asyncio.gather(*(one.produce(b"x") for one in everybody))
        assert set(codes) == {ErrorCode.NONE}
        assert flights.most == 1
        assert flights.count <= 3

    cluster.run(story)


def test_a_partition_without_a_leader_gets_its_marker_when_it_has_one(
    cluster: KitCluster,
) -> None:
    async def story(cluster: KitCluster) -> None:
        (producer,) = await producers(cluster, 1)
        assert await producer.produce(b"x") == 0
        cluster.move(DATA, -1)
        assert await producer.end() == 0
        await asyncio.sleep(5)
        assert await producer.state() == "PrepareCommit"
        cluster.move(DATA, 3)
        assert await producer.wait_complete() == "CompleteCommit"
        assert is_stable(cluster.nodes[3].partition(DATA))

    cluster.run(story)


def test_a_deleted_topic_needs_no_marker(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        (producer,) = await producers(cluster, 1)
        assert await producer.produce(b"x") == 0
        cluster.move(DATA, -1)
        assert await producer.end() == 0
        await asyncio.sleep(1)
        cluster.delete(DATA)
        assert await producer.wait_complete() == "CompleteCommit"

    cluster.run(story)


def test_a_broker_that_has_not_heard_of_a_topic_is_asked_again(cluster: KitCluster) -> None:
    """It is behind in its metadata: that is no deletion."""

    async def story(cluster: KitCluster) -> None:
        (producer,) = await producers(cluster, 1)
        assert await producer.produce(b"x") == 0
        behind = cluster.nodes[2]
        partitions = behind.partitions.remove_topic(DATA)
        topic = behind.image.topics.remove(partitions[0].topic_id)
        assert await producer.end() == 0
        await asyncio.sleep(2)
        assert await producer.state() == "PrepareCommit"
        behind.image.topics.add(topic)
        behind.partitions.add(partitions[0])
        assert await producer.wait_complete() == "CompleteCommit"
        assert len(markers(partitions[0])) == 1

    cluster.run(story)


def test_a_leader_that_moves_is_followed(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        async def move(node_id: int, request: Entity) -> None:
            if isinstance(request, WriteTxnMarkersRequest) and node_id == 2:
                cluster.move(DATA, 3)

        (producer,) = await producers(cluster, 1)
        assert await producer.produce(b"x") == 0
        await asyncio.sleep(0.1)
        cluster.before_call = move
        assert await producer.end() == 0
        assert await producer.wait_complete() == "CompleteCommit"
        assert is_stable(cluster.nodes[3].partition(DATA))

    cluster.run(story)


# What a broker answers


async def write(
    cluster: KitCluster, node_id: int, *asked: tuple[Marker, list[TopicPartition]]
) -> dict[int, dict[TopicPartition, ErrorCode]]:
    answer = await cluster.nodes[node_id].ask(markers_request(asked), 2)
    assert [one.producer_id for one in answer.markers] == [
        marker.producer_id for marker, _ in asked
    ]
    return markers_results(answer)


def test_every_producer_is_answered_once(cluster: KitCluster) -> None:
    """KAFKA-17877: whatever became of its partitions, and though it had none."""

    async def story(cluster: KitCluster) -> None:
        group = TopicPartition(CONSUMER_OFFSETS, 0)
        await cluster.nodes[1].broker.groups._wait_loaded(0)
        unknown = TopicPartition("never", 0)
        found = await write(
            cluster,
            1,
            *((Marker(number, 0, True), [group, D0, unknown]) for number in range(50)),
            (Marker(99, 0, True), []),
        )
        assert found.pop(99) == {}
        expected = {
            group: ErrorCode.NONE,
            D0: ErrorCode.NOT_LEADER_OR_FOLLOWER,
            unknown: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        }
        assert found == dict.fromkeys(range(50), expected)

    cluster.run(story)


def test_markers_are_answered_when_they_are_committed(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        cluster.stopped_replicas.add(DATA)
        asked = asyncio.create_task(write(cluster, 2, (Marker(7, 0, True), [D0])))
        await asyncio.sleep(1)
        assert not asked.done()
        assert len(markers(cluster.nodes[2].partition(DATA))) == 1
        cluster.stopped_replicas.clear()
        assert (await asked)[7] == {D0: ErrorCode.NONE}
        cluster.stopped_replicas.add(DATA)
        lost = asyncio.create_task(write(cluster, 2, (Marker(8, 0, True), [D0])))
        await asyncio.sleep(0.1)
        cluster.move(DATA, 3)
        assert (await lost)[8] == {D0: ErrorCode.NOT_LEADER_OR_FOLLOWER}

    cluster.run(story)


def test_a_group_that_is_not_loaded(cluster: KitCluster) -> None:
    """The marker is tried again, and by then it is."""

    async def story(cluster: KitCluster) -> None:
        group = TopicPartition(CONSUMER_OFFSETS, 0)
        marker = Marker(7, 0, True)
        assert (await write(cluster, 1, (marker, [group])))[7] == {
            group: ErrorCode.NOT_LEADER_OR_FOLLOWER
        }
        await asyncio.sleep(0.1)
        assert (await write(cluster, 1, (marker, [group])))[7] == {group: ErrorCode.NONE}

    cluster.run(story)


@pytest.mark.parametrize("topic", [DATA, CONSUMER_OFFSETS])
def test_an_old_coordinator_is_fenced(cluster: KitCluster, topic: str) -> None:
    async def story(cluster: KitCluster) -> None:
        node = leader_of(cluster, topic)
        await cluster.nodes[1].broker.groups._wait_loaded(0)
        key = TopicPartition(topic, 0)

        async def write_in(epoch: int) -> ErrorCode:
            return (await write(cluster, node.id, (Marker(7, 0, True, epoch), [key])))[7][key]

        assert await write_in(5) == ErrorCode.NONE
        assert await write_in(4) == ErrorCode.TRANSACTION_COORDINATOR_FENCED
        assert await write_in(5) == ErrorCode.NONE
        assert await write_in(6) == ErrorCode.NONE
        epochs = [marker.coordinator_epoch for marker in markers(node.partition(topic))]
        assert epochs == [5, 5, 6]
        # The next leader knows of it from its own log.
        await asyncio.sleep(0.1)
        cluster.move(topic, 3)
        await asyncio.sleep(0.1)
        found = (await write(cluster, 3, (Marker(7, 0, True, 5), [key])))[7][key]
        assert found == ErrorCode.TRANSACTION_COORDINATOR_FENCED

    cluster.run(story)


def test_codes_that_a_coordinator_of_kafka_understands() -> None:
    understood = {
        *(ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        *(ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND),
        *(ErrorCode.REQUEST_TIMED_OUT, ErrorCode.KAFKA_STORAGE_ERROR),
        *(ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
        *(ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
    }
    assert {answer_code(code) for code in ErrorCode} == understood
    assert all(answer_code(code) == code for code in understood)


def test_additions_of_several_transactions(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        cluster.delete(DATA)
        cluster.create(DATA, 2, 3)
        cluster.tell()
        first, second, third = await producers(cluster, 3)
        assert await second.produce(b"x") == 0
        offsets = TopicPartition(CONSUMER_OFFSETS, 0)
        asked = [
            Addition(first.name, first.producer_id, first.epoch, (D0, offsets)),
            Addition(second.name, second.producer_id, second.epoch, (D0, D1), verify_only=True),
            Addition(third.name, third.producer_id, third.epoch + 1, (D0,)),
            Addition("nobody", 5, 0, (D1,)),
            Addition("lost", 5, 0, (D1, TopicPartition("never", 0))),
        ]
        answer = await cluster.nodes[1].ask(additions_request(asked), 5)
        assert additions_results(answer) == {
            "tx0": dict.fromkeys((D0, offsets), ErrorCode.NONE),
            "tx1": {D0: ErrorCode.NONE, D1: ErrorCode.TRANSACTION_ABORTABLE},
            "tx2": {D0: ErrorCode.PRODUCER_FENCED},
            "nobody": {D1: ErrorCode.INVALID_PRODUCER_ID_MAPPING},
            "lost": {
                D1: ErrorCode.OPERATION_NOT_ATTEMPTED,
                TopicPartition("never", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            },
        }
        elsewhere = await cluster.nodes[2].ask(additions_request(asked[:1]), 5)
        assert set(additions_results(elsewhere)["tx0"].values()) == {ErrorCode.NOT_COORDINATOR}

    cluster.run(story)


def test_a_transaction_that_completes_is_asked_for_again_soon(cluster: KitCluster) -> None:
    """Within a tenth of a second, before the producer has to."""

    async def story(cluster: KitCluster) -> None:
        async def delay(node_id: int, request: Entity) -> None:
            if isinstance(request, WriteTxnMarkersRequest):
                await asyncio.sleep(0.05)

        (producer,) = await producers(cluster, 1)
        assert await producer.produce(b"x") == 0
        cluster.before_call = delay
        assert await producer.end() == 0
        assert await producer.produce(b"y", patient=False) == ErrorCode.NONE

    cluster.run(story)


def test_a_broker_that_does_not_answer_is_one_to_try_again(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        async def lose(node_id: int, request: Entity) -> None:
            raise NoAnswer("lost")

        (producer,) = await producers(cluster, 1)
        cluster.before_call = lose
        code = await producer.produce(b"x", patient=False)
        assert code == ErrorCode.NOT_ENOUGH_REPLICAS
        cluster.move(CONSUMER_OFFSETS, 3)
        cluster.before_call = None
        cluster.move(TRANSACTION_STATE, 2)
        producer.sequences.clear()
        assert await producer.produce(b"x") == ErrorCode.NONE

    cluster.run(story)
