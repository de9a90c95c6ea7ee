"""What Metadata tells of brokers and replicas: only whom a client can reach, and never nobody."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from penstock.handlers.api import metadata
from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.metadata.broker import BrokerImage, Endpoint
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import PartitionImage
from penstock.metadata.topic import TopicImage
from penstock.model.directory_id import LOST, MIGRATING, UNASSIGNED
from penstock.model.error import ErrorCode
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
)
from penstock.replication.lost_leaders import LostLeaders

OWN = 2
DISK = bytes(15) + b"d"
OTHER_DISK = bytes(15) + b"e"


async def is_gone(broker_id: int) -> bool:
    return False


def ask(
    *brokers: BrokerImage, partition: PartitionImage | None = None, version: int = 12
) -> MetadataResponse:
    image = ClusterImage()
    image.brokers.update({each.id: each for each in brokers})
    if partition is not None:
        topic = TopicImage("t", bytes(15) + b"t")
        topic.partitions[0] = partition
        image.topics.add(topic)
    return answer_of(node_with(image), version)


def node_with(image: ClusterImage) -> Broker:
    stand_in = SimpleNamespace(
        image=image,
        node_id=OWN,
        cluster_id="c",
        lost_leaders=LostLeaders(image.brokers, is_gone),
        controller=SimpleNamespace(is_making=lambda names: False),
        replica_states={},
    )
    return cast(Broker, stand_in)


def answer_of(node: Broker, version: int = 12) -> MetadataResponse:
    call = SimpleNamespace(version=version, client=SimpleNamespace(listener="PLAINTEXT"))
    wanted = MetadataRequest(topics=None if version else [])
    answer = metadata.handle(node, wanted, cast(Call, call))
    assert isinstance(answer, MetadataResponse)
    answer.topics = list(answer.topics)
    return answer


def ask_brokers(*brokers: BrokerImage) -> list[tuple[int, int]]:
    return told_brokers(ask(*brokers))


def told_brokers(answer: MetadataResponse) -> list[tuple[int, int]]:
    return [(each.node_id, each.port) for each in answer.brokers]


def ask_partition(
    *brokers: BrokerImage, leader: int = 1, version: int = 12, places: tuple[bytes, ...] = ()
) -> MetadataResponsePartition:
    partition = PartitionImage(
        leader=leader,
        leader_epoch=0,
        partition_epoch=0,
        replicas=(1, 2, 3),
        isr=(1, 2, 3),
        directories=places,
    )
    answer = ask(*brokers, partition=partition, version=version)
    return answer.topics[0].partitions[0]


def broker_of(
    number: int,
    *,
    fenced: bool = False,
    listener: str = "PLAINTEXT",
    log_dirs: tuple[bytes, ...] = (),
) -> BrokerImage:
    point = Endpoint(listener, "127.0.0.1", 9090 + number)
    return BrokerImage(number, number, bytes(16), (point,), fenced=fenced, log_dirs=log_dirs)


ALL = tuple(broker_of(number) for number in (1, 2, 3))


def test_clients_are_sent_to_brokers_that_were_let_in() -> None:
    assert ask_brokers(broker_of(1), broker_of(OWN, fenced=True)) == [(1, 9091)]


def test_what_has_changed_since_the_last_answer_is_told() -> None:
    image = ClusterImage()
    image.brokers.update({each.id: each for each in ALL})
    node = node_with(image)
    assert told_brokers(answer_of(node)) == [(1, 9091), (2, 9092), (3, 9093)]
    image.brokers[1] = broker_of(1, fenced=True)
    assert told_brokers(answer_of(node)) == [(2, 9092), (3, 9093)]
    del image.brokers[3]
    assert told_brokers(answer_of(node)) == [(2, 9092)]


def test_one_that_was_fenced_a_moment_ago_is_still_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LostLeaders, "still_listed", lambda self: [3])
    brokers = [broker_of(1), broker_of(OWN), broker_of(3, fenced=True), broker_of(4, fenced=True)]
    assert ask_brokers(*brokers) == [(1, 9091), (OWN, 9092), (3, 9093)]


def test_while_nobody_is_let_in_clients_keep_the_one_that_answers() -> None:
    assert ask_brokers(broker_of(1, fenced=True), broker_of(OWN, fenced=True)) == [(OWN, 9092)]


def test_a_whole_partition_has_no_replica_offline() -> None:
    told = ask_partition(*ALL)
    assert (told.error_code, told.leader_id, list(told.offline_replicas)) == (0, 1, [])


def test_replicas_of_brokers_that_are_fenced_or_gone_are_offline() -> None:
    told = ask_partition(broker_of(1), broker_of(2, fenced=True))
    assert (told.error_code, told.leader_id, list(told.offline_replicas)) == (0, 1, [2, 3])
    assert list(told.replica_nodes) == [1, 2, 3]


def test_a_leader_without_the_client_s_listener_is_not_named() -> None:
    apart = broker_of(1, listener="INTERNAL")
    told = ask_partition(apart, *ALL[1:])
    assert (told.leader_id, list(told.offline_replicas)) == (-1, [1])
    assert told.error_code == ErrorCode.LISTENER_NOT_FOUND
    old = ask_partition(apart, *ALL[1:], version=5)
    assert old.error_code == ErrorCode.LEADER_NOT_AVAILABLE


def test_a_partition_without_a_leader_says_so() -> None:
    told = ask_partition(*ALL, leader=-1)
    assert (told.error_code, told.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)


def test_a_replica_in_a_directory_that_failed_is_offline() -> None:
    brokers = [broker_of(number, log_dirs=(DISK,)) for number in (1, 2, 3)]
    assert list(ask_partition(*brokers, places=(DISK, OTHER_DISK, LOST)).offline_replicas) == [2, 3]
    untold = ask_partition(*brokers, places=(DISK, MIGRATING, UNASSIGNED))
    assert list(untold.offline_replicas) == []


def test_the_oldest_clients_are_not_told_of_replicas_without_an_address() -> None:
    told = ask_partition(*ALL[:2], version=0)
    assert (list(told.replica_nodes), list(told.isr_nodes)) == ([1, 2], [1, 2])
    assert told.error_code == ErrorCode.REPLICA_NOT_AVAILABLE
    assert ask_partition(*ALL, version=0).error_code == ErrorCode.NONE
