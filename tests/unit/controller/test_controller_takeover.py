"""A controller that takes over: from what is committed, with nothing half done."""

from __future__ import annotations

import pytest

from penstock.metadata.version import METADATA_VERSION, record_version
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from penstock.protocol.messages.records.abort_transaction_record import AbortTransactionRecord
from penstock.protocol.messages.records.begin_transaction_record import BeginTransactionRecord
from penstock.protocol.messages.records.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
from penstock.protocol.messages.records.partition_record import PartitionRecord
from penstock.protocol.messages.records.register_broker_record import RegisterBrokerRecord
from penstock.protocol.messages.records.topic_record import TopicRecord
from penstock.protocol.record_frame import encode_metadata_record
from tests.unit.controller.cluster_kit import Cluster


def test_a_change_that_was_left_half_done_never_was() -> None:
    """KIP-868: the controller died inside a transaction."""
    cluster = Cluster()
    for record in (BeginTransactionRecord(), TopicRecord(name="half", topic_id=b"h" * 16)):
        cluster.log.append(encode_metadata_record(record))
    (record,) = cluster.fail_over()
    assert isinstance(record, AbortTransactionRecord)
    assert "half" not in cluster.image.topics
    cluster.create("half", [1, 2, 3])
    assert cluster.reloaded() == cluster.image


def test_with_nothing_open_nothing_is_written() -> None:
    cluster = Cluster()
    assert cluster.fail_over() == []


def test_the_next_controller_finds_the_partitions_of_a_broker() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3], [2, 3, 1])
    cluster.fail_over()
    cluster.fence(1)
    assert [one.leader for one in cluster.topic("t").partitions.values()] == [2, 2]
    assert [one.isr for one in cluster.topic("t").partitions.values()] == [(2, 3), (2, 3)]


def test_producer_ids_are_given_once_whoever_gives_them() -> None:
    """KAFKA-15552."""
    cluster = Cluster()
    given: list[int] = []
    for broker_id in (1, 2, 1):
        request = AllocateProducerIdsRequest(
            broker_id=broker_id, broker_epoch=cluster.epoch(broker_id)
        )
        reply = cluster.do(
            lambda shard, request=request: shard.decide_allocate_producer_ids(request)
        )
        given += range(reply.producer_id_start, reply.producer_id_start + reply.producer_id_len)
        cluster.fail_over()
    assert len(given) == len(set(given)) == 3000
    stale = AllocateProducerIdsRequest(broker_id=1, broker_epoch=cluster.epoch(1) - 1)
    with pytest.raises(ApiError) as refused:
        cluster.shard.decide_allocate_producer_ids(stale)
    assert refused.value.code == ErrorCode.STALE_BROKER_EPOCH


@pytest.mark.parametrize(
    ("level", "versions"),
    [(17, (3, 1, 1, 2)), (22, (3, 1, 1, 2)), (23, (3, 2, 2, 2)), (30, (4, 2, 2, 3))],
)
def test_records_are_of_the_version_that_the_level_allows(
    level: int, versions: tuple[int, ...]
) -> None:
    records = (
        RegisterBrokerRecord(),
        PartitionRecord(),
        PartitionChangeRecord(),
        BrokerRegistrationChangeRecord(),
    )
    assert tuple(record_version(one, level) for one in records) == versions


@pytest.mark.parametrize("level", [17, 22, 23, 29, 30])
def test_what_is_decided_at_a_level_can_be_written_at_it(level: int) -> None:
    cluster = Cluster(0)
    cluster.image.features[METADATA_VERSION] = level
    if level < 23:
        del cluster.image.features["eligible.leader.replicas.version"]
    for broker_id in (1, 2, 3):
        cluster.start(broker_id)
    cluster.create("t", [1, 2, 3], [2, 3, 1])
    beat = cluster.heartbeat_request(2)
    beat.cordoned_log_dirs = list(cluster.image.brokers[2].log_dirs)
    cluster.send(beat)
    assert (cluster.image.brokers[2].cordoned_log_dirs is not None) == (level == 30)
    cluster.heartbeat(1, want_shut_down=True)
    cluster.fence(2)
    cluster.restart(2, clean=False)
    for record in cluster.records():
        encode_metadata_record(record, record_version(record, level))


def test_a_broker_that_is_unregistered_is_out_of_every_list_but_the_replicas() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3], min_insync_replicas=3)
    cluster.fence(3)
    assert cluster.partition("t").elr == (3,)
    cluster.unregister(3)
    partition = cluster.partition("t")
    assert (partition.replicas, partition.isr, partition.elr) == ((1, 2, 3), (1, 2), ())


def test_directories_are_assigned_by_the_broker_that_has_them() -> None:
    cluster = Cluster(2)
    here, there, lost = (bytes([number] * 16) for number in (7, 8, 9))
    request = cluster.registration(3)
    request.log_dirs = [here, there]
    cluster.register(3, request)
    cluster.heartbeat(3)
    cluster.create("t", [3, 1], [1, 3], [3, 1])
    cluster.create("elsewhere", [1, 2])
    assert cluster.place(3, {here: [0], there: [1, 9]}) == [0, 0, 3]
    assert cluster.place(3, {here: [0]}, "elsewhere") == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    directories = [one.directories for one in cluster.topic("t").partitions.values()]
    assert (directories[0][0], directories[1][1]) == (here, there)
    before = len(cluster.log)
    cluster.place(3, {here: [0]})
    assert len(cluster.log) == before, "said again, nothing changes"
    cluster.place(3, {lost: [2]})
    assert (cluster.partition("t", 2).leader, cluster.partition("t", 2).isr) == (1, (1,))
