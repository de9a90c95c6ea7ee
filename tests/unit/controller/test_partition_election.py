"""Who leads after what: in-sync, eligible, last known, preferred and unclean leaders."""

from __future__ import annotations

import dataclasses

import pytest

from penstock.controller import BOOTSTRAP_FEATURES, ControllerConfig
from penstock.metadata import PartitionImage
from penstock.model.error import ErrorCode
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from tests.unit.controller.cluster_kit import Cluster

PREFERRED, UNCLEAN = 0, 1
QUIET = ControllerConfig(metadata_max_idle_interval_ms=0)


def elect(cluster: Cluster, election: int, *indexes: int, name: str = "t") -> list[int]:
    asked = [TopicPartitions(topic=name, partitions=list(indexes))]
    request = ElectLeadersRequest(election_type=election, topic_partitions=asked)
    reply = cluster.do(lambda shard: shard.decide_elect_leaders(request))
    return [one.error_code for one in reply.replica_election_results[0].partition_result]


def led(partition: PartitionImage) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    return partition.leader, partition.isr, partition.elr


def test_down_to_one_and_only_a_clean_eligible_one_leads() -> None:
    """KIP-966: the last one standing came back without what it had not flushed."""
    cluster = Cluster()
    cluster.create("t", [1, 2, 3], min_insync_replicas=2)
    cluster.fence(1)
    cluster.fence(2)
    assert led(cluster.partition("t")) == (3, (3,), (2,))
    cluster.fence(3)
    assert led(cluster.partition("t")) == (-1, (), (2, 3))
    assert cluster.partition("t").last_known_elr == (3,)
    cluster.restart(3, clean=False)
    cluster.heartbeat(3)
    assert led(cluster.partition("t")) == (-1, (), (2,)), "the last leader may have lost its tail"
    cluster.restart(1, clean=False)
    cluster.heartbeat(1)
    assert cluster.partition("t").leader == -1
    cluster.restart(2, clean=True)
    cluster.heartbeat(2)
    assert led(cluster.partition("t")) == (2, (2,), ())
    assert cluster.partition("t").leader_recovery_state == 0
    assert cluster.partition("t").last_known_elr == ()


def test_with_nobody_eligible_the_last_known_leader_leads_uncleanly() -> None:
    cluster = Cluster(2)
    cluster.create("t", [1])
    cluster.fence(1)
    cluster.restart(1, clean=False)
    partition = cluster.partition("t")
    assert (*led(partition), partition.last_known_elr) == (-1, (), (), (1,))
    cluster.heartbeat(1, want_fence=True)
    cluster.heartbeat(2)
    assert cluster.partition("t").leader == -1, "not while it is fenced (KAFKA-19522)"
    cluster.heartbeat(1)
    partition = cluster.partition("t")
    assert (partition.leader, partition.isr, partition.leader_recovery_state) == (1, (1,), 1)
    assert partition.last_known_elr == ()


def test_an_unclean_election_is_allowed_per_topic() -> None:
    for allowed, leader in (("true", 2), ("false", -1)):
        cluster = Cluster(2)
        cluster.create("t", [1, 2], unclean_leader_election_enable=allowed)
        cluster.set_isr("t", 1)
        cluster.now_ms += 10_000
        cluster.restart(1, clean=False)
        assert cluster.partition("t").leader == leader, allowed


def test_without_the_feature_an_unclean_leader_comes_at_once() -> None:
    features = {**BOOTSTRAP_FEATURES, "eligible.leader.replicas.version": 0}
    config = dataclasses.replace(
        QUIET, bootstrap_features=features, unclean_leader_election_enable=True
    )
    cluster = Cluster(2, config)
    cluster.create("t", [1, 2])
    cluster.set_isr("t", 1)
    cluster.fence(1)
    partition = cluster.partition("t")
    assert (partition.leader, partition.isr, partition.leader_recovery_state) == (2, (2,), 1)


def test_a_broker_that_comes_back_leads_nothing_that_is_led() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3], [1, 3, 2], [3, 1, 2])
    cluster.fence(1)
    before = len(cluster.log)
    cluster.heartbeat(1)
    assert len(cluster.log) == before + 1, "no storm of elections"
    assert [one.leader for one in cluster.topic("t").partitions.values()] == [2, 3, 3]


def test_a_preferred_leader_is_elected_once_in_sync() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    cluster.fence(1)
    cluster.heartbeat(1)
    assert elect(cluster, PREFERRED, 0) == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]
    cluster.set_isr("t", 2, 3, 1)
    epoch = cluster.partition("t").leader_epoch
    assert elect(cluster, PREFERRED, 0, 0) == [ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED]
    assert cluster.partition("t").leader == 1
    assert cluster.partition("t").leader_epoch == epoch + 1


def test_a_new_min_insync_replicas_clears_who_is_eligible() -> None:
    cluster = Cluster()
    for name in ("t", "u"):
        cluster.create(name, [1, 2, 3], min_insync_replicas=2)
        cluster.set_isr(name, 1)
    epoch = cluster.partition("t").partition_epoch
    cluster.image.take_delta()
    cluster.set_config(2, "t", "min.insync.replicas", "2")
    assert led(cluster.partition("t")) == (1, (1,), ())
    assert cluster.partition("t").partition_epoch == epoch + 1, "its leader has to hear of it"
    assert cluster.image.take_delta().partitions_changed[cluster.topic("t").id] == {0}
    assert cluster.partition("u").elr == (2, 3)
    cluster.set_config(4, "", "min.insync.replicas", "2")
    assert cluster.partition("u").elr == ()


def test_what_is_enough_is_never_more_than_there_are_replicas() -> None:
    cluster = Cluster(2)
    cluster.create("t", [1, 2], min_insync_replicas=3)
    cluster.set_isr("t", 1)
    assert cluster.partition("t").elr == (2,)
    cluster.set_isr("t", 1, 2)
    assert cluster.partition("t").elr == ()


@pytest.mark.parametrize("election", [PREFERRED, UNCLEAN])
def test_nobody_is_elected_twice_in_a_request(election: int) -> None:
    cluster = Cluster(2)
    cluster.create("t", [1])
    cluster.fence(1)
    assert set(elect(cluster, election, 0, 0)) <= {
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
    }
