"""Replicas that move: begun, finished by whatever change shows them in sync, called off, listed."""

from __future__ import annotations

from penstock.model.error import ErrorCode
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.unit.controller.cluster_kit import Cluster


def moving(cluster: Cluster, name: str | None = None) -> dict[str, list[int]]:
    topics = None
    if name is not None:
        topics = [ListPartitionReassignmentsTopics(name=name, partition_indexes=[0, 1, 99])]
    request = ListPartitionReassignmentsRequest(topics=topics)
    reply = cluster.do(lambda shard: shard.decide_list_reassignments(request))
    return {one.name: [part.partition_index for part in one.partitions] for one in reply.topics}


def test_a_replica_is_replaced() -> None:
    cluster = Cluster(4)
    cluster.create("t", [1, 2, 3])
    assert cluster.reassign("t", [1, 2, 4]).error_code == ErrorCode.NONE
    partition = cluster.partition("t")
    assert partition.replicas == (1, 2, 4, 3)
    assert (partition.adding_replicas, partition.removing_replicas) == ((4,), (3,))
    assert len(partition.directories) == 4
    assert partition.leader_epoch == 0
    assert moving(cluster) == moving(cluster, "t") == {"t": [0]}
    cluster.set_isr("t", 1, 2, 3, 4)
    partition = cluster.partition("t")
    assert (partition.replicas, partition.isr) == ((1, 2, 4), (1, 2, 4))
    assert not partition.adding_replicas and not partition.removing_replicas
    assert partition.leader_epoch == 1, "who left must not be mistaken for a replica of this epoch"
    assert len(partition.directories) == 3
    assert moving(cluster) == moving(cluster, "t") == {}


def test_a_move_goes_on_though_its_leader_dies() -> None:
    cluster = Cluster(4)
    cluster.create("t", [1, 2])
    cluster.reassign("t", [3, 4])
    cluster.set_isr("t", 1, 2, 3)
    cluster.fence(1)
    assert cluster.partition("t").replicas == (3, 4, 1, 2)
    cluster.set_isr("t", 2, 3, 4)
    assert cluster.partition("t").replicas == (3, 4)


def test_a_new_order_is_done_at_once() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    cluster.reassign("t", [3, 1, 2])
    partition = cluster.partition("t")
    assert (partition.replicas, partition.leader) == ((3, 1, 2), 1)
    assert moving(cluster) == {}


def test_fewer_replicas_wait_until_those_that_stay_are_in_sync() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    cluster.set_isr("t", 1, 3)
    cluster.reassign("t", [1, 2])
    assert cluster.partition("t").removing_replicas == (3,)
    cluster.set_isr("t", 1, 2, 3)
    assert cluster.partition("t").replicas == (1, 2)


def test_a_leader_that_is_removed_hands_over() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    cluster.reassign("t", [2, 3])
    partition = cluster.partition("t")
    assert (partition.replicas, partition.leader, partition.leader_epoch) == ((2, 3), 2, 1)


def test_who_left_is_no_longer_eligible() -> None:
    cluster = Cluster(4)
    cluster.create("t", [1, 2], min_insync_replicas=2)
    cluster.set_isr("t", 1)
    assert cluster.partition("t").elr == (2,)
    cluster.reassign("t", [1, 3, 4])
    cluster.set_isr("t", 1, 3, 4)
    assert cluster.partition("t").replicas == (1, 3, 4)
    assert set(cluster.partition("t").elr) <= {1, 3, 4}


def test_a_move_is_called_off() -> None:
    cluster = Cluster(4)
    cluster.create("t", [1, 2])
    assert cluster.reassign("t", None).error_code == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    cluster.reassign("t", [3, 4])
    cluster.set_isr("t", 1, 2, 3)
    assert cluster.reassign("t", None).error_code == ErrorCode.NONE
    partition = cluster.partition("t")
    assert (set(partition.replicas), partition.isr, partition.leader) == ({1, 2}, (1, 2), 1)
    assert partition.leader_epoch == 1
    assert moving(cluster) == {}


def test_calling_off_needs_somebody_of_before_in_sync() -> None:
    for allowed, error in (("false", ErrorCode.INVALID_REPLICA_ASSIGNMENT), ("true", 0)):
        cluster = Cluster(4)
        cluster.create("t", [1, 2], unclean_leader_election_enable=allowed)
        cluster.reassign("t", [3, 4])
        cluster.set_isr("t", 1, 3)
        cluster.fence(1)
        assert cluster.partition("t").leader == 3
        assert cluster.reassign("t", None).error_code == error
        if not error:
            partition = cluster.partition("t")
            assert (partition.leader, partition.isr) == (2, (2,))
            assert partition.leader_recovery_state == 1


def test_a_second_move_takes_the_place_of_the_first() -> None:
    cluster = Cluster(5)
    cluster.create("t", [1, 2, 3])
    cluster.reassign("t", [1, 2, 4])
    cluster.reassign("t", [1, 2, 3, 4])
    partition = cluster.partition("t")
    assert (partition.adding_replicas, partition.removing_replicas) == ((4,), ())
    cluster.set_isr("t", 1, 2, 3, 4)
    assert cluster.partition("t").replicas == (1, 2, 3, 4), "the third was wanted after all"


def test_the_number_of_replicas_may_be_held_fast() -> None:
    cluster = Cluster(4)
    cluster.create("t", [1, 2, 3])
    refused = cluster.reassign("t", [1, 2], may_change_count=False)
    assert refused.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert cluster.reassign("t", [1, 2, 4], may_change_count=False).error_code == ErrorCode.NONE
    assert cluster.reassign("t", [1, 4, 3], may_change_count=False).error_code == ErrorCode.NONE


def test_targets_have_to_be_brokers() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    for wanted in ([], [1, 1], [1, 9]):
        refused = cluster.reassign("t", wanted)
        assert refused.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert cluster.reassign("nope", [1]).error_code == unknown
    assert cluster.reassign("t", [1], index=9).error_code == unknown


def test_a_directory_of_one_that_has_only_one_is_known_at_once() -> None:
    cluster = Cluster(4)
    cluster.create("t", [1, 2])
    cluster.reassign("t", [1, 4])
    assert cluster.partition("t").directories[1] == cluster.image.brokers[4].log_dirs[0]
