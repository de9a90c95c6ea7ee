"""AlterPartition: what a leader may say of its in-sync replicas, and which fault counts first."""

from __future__ import annotations

import pytest

from penstock.model.directory_id import LOST
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    RequestPartitionData,
    RequestTopicData,
)
from tests.unit.controller.cluster_kit import Cluster

RECOVERED, RECOVERING = 0, 1


def cluster_of_three() -> Cluster:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    return cluster


def test_a_leader_shrinks_and_expands_its_in_sync_set() -> None:
    cluster = cluster_of_three()
    reply = cluster.set_isr("t", 1, 2)
    assert (reply.error_code, reply.leader_id, reply.leader_epoch) == (0, 1, 0)
    assert (reply.isr, reply.partition_epoch) == ([1, 2], 1)
    reply = cluster.set_isr("t", 1, 2, 3)
    assert (reply.isr, reply.partition_epoch) == ([1, 2, 3], 2)
    assert reply.leader_epoch == 0, "a smaller set is no new leadership (KAFKA-15021)"


def test_the_same_set_again_writes_nothing() -> None:
    cluster = cluster_of_three()
    before = len(cluster.log)
    reply = cluster.set_isr("t", 1, 2, 3)
    assert (reply.error_code, reply.partition_epoch, len(cluster.log)) == (0, 0, before)


def test_a_stale_broker_epoch_fails_the_request() -> None:
    cluster = cluster_of_three()
    request = AlterPartitionRequest(broker_id=1, broker_epoch=cluster.epoch(1) - 1)
    with pytest.raises(ApiError) as refused:
        cluster.shard.decide_alter_partition(request, 3)
    assert refused.value.code == ErrorCode.STALE_BROKER_EPOCH


def test_unknown_topics_and_partitions() -> None:
    cluster = cluster_of_three()
    wanted = RequestPartitionData(partition_index=7)
    topics = [
        RequestTopicData(topic_id=b"x" * 16, partitions=[wanted]),
        RequestTopicData(topic_id=cluster.topic("t").id, partitions=[wanted]),
    ]
    request = AlterPartitionRequest(broker_id=1, broker_epoch=cluster.epoch(1), topics=topics)
    reply = cluster.do(lambda shard: shard.decide_alter_partition(request, 3))
    assert [one.partitions[0].error_code for one in reply.topics] == [
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]


@pytest.mark.parametrize(
    ("leader_epoch", "partition_epoch", "sender", "error"),
    [
        (6, 9, 1, ErrorCode.NOT_CONTROLLER),
        (6, -9, 2, ErrorCode.NOT_CONTROLLER),
        (-6, 9, 2, ErrorCode.NOT_CONTROLLER),
        (-1, -1, 2, ErrorCode.FENCED_LEADER_EPOCH),
        (0, -1, 2, ErrorCode.INVALID_REQUEST),
        (0, -1, 1, ErrorCode.INVALID_UPDATE_VERSION),
    ],
)
def test_epochs_are_looked_at_before_all_else(
    leader_epoch: int, partition_epoch: int, sender: int, error: ErrorCode
) -> None:
    cluster = cluster_of_three()
    cluster.set_isr("t", 1, 2)
    wanted = cluster.alteration("t", [9, 9])
    wanted.leader_epoch += leader_epoch
    wanted.partition_epoch += partition_epoch
    assert cluster.alter("t", wanted, sender).error_code == error


@pytest.mark.parametrize("isr", [[1, 4], [1, 1], [2, 3], []])
def test_a_set_is_of_replicas_without_repetition_and_with_its_leader(isr: list[int]) -> None:
    cluster = cluster_of_three()
    assert cluster.set_isr("t", *isr).error_code == ErrorCode.INVALID_REQUEST


def test_a_partition_named_twice_is_changed_once() -> None:
    cluster = cluster_of_three()
    partitions = [cluster.alteration("t", [1, 2]), cluster.alteration("t", [1])]
    topics = [RequestTopicData(topic_id=cluster.topic("t").id, partitions=partitions)]
    request = AlterPartitionRequest(broker_id=1, broker_epoch=cluster.epoch(1), topics=topics)
    reply = cluster.do(lambda shard: shard.decide_alter_partition(request, 3))
    codes = [one.error_code for one in reply.topics[0].partitions]
    assert codes == [ErrorCode.NONE, ErrorCode.INVALID_UPDATE_VERSION]
    assert cluster.partition("t").isr == (1, 2)


def uncleanly_led() -> Cluster:
    cluster = Cluster(3)
    cluster.create("t", [1, 2], unclean_leader_election_enable="true")
    cluster.set_isr("t", 1)
    cluster.fence(1)
    assert cluster.partition("t").leader == 2
    assert cluster.partition("t").leader_recovery_state == RECOVERING
    cluster.heartbeat(1)
    return cluster


def test_an_unclean_leader_recovers_before_it_takes_in_others() -> None:
    cluster = uncleanly_led()
    wanted = cluster.alteration("t", [2, 1], recovery=RECOVERING)
    assert cluster.alter("t", wanted).error_code == ErrorCode.INVALID_REQUEST
    assert cluster.alter("t", cluster.alteration("t", [2], recovery=9)).error_code == 42
    reply = cluster.alter("t", cluster.alteration("t", [2, 1], recovery=RECOVERED))
    assert (reply.error_code, reply.leader_recovery_state) == (0, RECOVERED)
    back = cluster.alteration("t", [2], recovery=RECOVERING)
    assert cluster.alter("t", back).error_code == ErrorCode.INVALID_REQUEST


def test_a_fenced_broker_stays_out() -> None:
    """KIP-841: one that is fenced may still fetch, and its leader may not have heard of it."""
    cluster = cluster_of_three()
    cluster.fence(3)
    assert cluster.set_isr("t", 1, 2, 3).error_code == ErrorCode.INELIGIBLE_REPLICA
    assert cluster.partition("t").isr == (1, 2)


def test_one_that_shuts_down_and_one_unregistered_stay_out() -> None:
    cluster = cluster_of_three()
    cluster.create("led-by-3", [3, 1])
    cluster.heartbeat(3, want_shut_down=True)
    assert cluster.set_isr("t", 1, 2, 3).error_code == ErrorCode.INELIGIBLE_REPLICA
    cluster.fence(3)
    cluster.unregister(3)
    assert cluster.set_isr("t", 1, 2, 3).error_code == ErrorCode.INELIGIBLE_REPLICA


def test_a_replica_on_a_directory_that_failed_stays_out() -> None:
    cluster = Cluster(2)
    here, there = bytes([7] * 16), bytes([8] * 16)
    request = cluster.registration(3)
    request.log_dirs = [here, there]
    cluster.register(3, request)
    cluster.heartbeat(3)
    cluster.create("t", [1, 3])
    cluster.place(3, {there: [0]})
    beat = cluster.heartbeat_request(3)
    beat.offline_log_dirs = [there]
    cluster.send(beat)
    assert cluster.partition("t").isr == (1,)
    assert cluster.set_isr("t", 1, 3).error_code == ErrorCode.INELIGIBLE_REPLICA
    cluster.place(3, {here: [0]})
    assert cluster.set_isr("t", 1, 3).error_code == ErrorCode.NONE


def test_a_replica_that_was_lost_leads_again_where_nobody_else_can() -> None:
    cluster = Cluster(2)
    home = cluster.image.brokers[1].log_dirs[0]
    cluster.create("t", [1, 2], min_insync_replicas=2)
    cluster.fence(2)
    assert cluster.partition("t").isr == (1,)
    cluster.place(1, {LOST: [0]})
    found = cluster.partition("t")
    assert (found.leader, found.isr) == (-1, ()) and 1 in found.elr
    cluster.place(1, {home: [0]})
    found = cluster.partition("t")
    assert (found.leader, found.isr) == (1, (1,))


def test_a_late_request_does_not_readmit_a_broker_that_restarted() -> None:
    """KIP-903: the replica may have come back empty."""
    cluster = cluster_of_three()
    last_life = cluster.epoch(3)
    cluster.set_isr("t", 1, 2)
    cluster.fence(3)
    cluster.restart(3, clean=False)
    cluster.heartbeat(3)
    late = cluster.alteration("t", [1, 2, 3], epochs={3: last_life})
    assert cluster.alter("t", late).error_code == ErrorCode.INELIGIBLE_REPLICA
    assert cluster.set_isr("t", 1, 2, 3).error_code == ErrorCode.NONE


@pytest.mark.parametrize(("version", "epochs"), [(2, {3: 1}), (3, {3: -1})])
def test_an_epoch_that_is_not_told_is_not_checked(version: int, epochs: dict[int, int]) -> None:
    cluster = cluster_of_three()
    cluster.set_isr("t", 1, 2)
    wanted = cluster.alteration("t", [1, 2, 3], epochs=epochs)
    assert cluster.alter("t", wanted, version=version).error_code == ErrorCode.NONE


def test_enough_in_sync_ends_eligibility() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3], min_insync_replicas=2)
    cluster.set_isr("t", 1)
    assert cluster.partition("t").elr == (2, 3)
    cluster.set_isr("t", 1, 2)
    assert cluster.partition("t").elr == ()


def test_the_end_of_a_reassignment_may_move_the_leader() -> None:
    cluster = Cluster(4)
    cluster.create("t", [1, 2])
    cluster.reassign("t", [3, 4])
    assert cluster.set_isr("t", 1, 2, 3).error_code == ErrorCode.NONE
    reply = cluster.set_isr("t", 1, 2, 3, 4)
    assert reply.error_code == ErrorCode.NEW_LEADER_ELECTED
    partition = cluster.partition("t")
    assert (partition.leader, partition.isr, partition.replicas) == (3, (3, 4), (3, 4))
    assert partition.leader_epoch == 1
