"""What the controller does by itself: silent brokers, no-op records, elections now and then."""

from __future__ import annotations

import dataclasses

import pytest

from penstock.controller import ControllerConfig, ControllerTimer
from penstock.model.principal import Principal
from penstock.protocol.messages.controller_registration import ControllerRegistrationRequest
from penstock.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from penstock.protocol.messages.records.no_op_record import NoOpRecord
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
from tests.unit.controller.cluster_kit import Cluster
from tests.unit.controller.controller_kit import Controller

QUIET = ControllerConfig(metadata_max_idle_interval_ms=0)


def beat_all_but(cluster: Cluster, *silent: int) -> None:
    for broker_id in cluster.image.brokers:
        if broker_id not in silent:
            cluster.heartbeat(broker_id)


def test_a_broker_is_fenced_when_its_session_is_over() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    for _ in range(4):
        cluster.wait(2000)
        beat_all_but(cluster, 1)
    assert not cluster.image.brokers[1].fenced
    records = cluster.wait(1100)
    assert len(records) == 2
    assert cluster.image.brokers[1].fenced
    assert cluster.partition("t").leader == 2
    assert not cluster.image.brokers[2].fenced


def test_all_silent_are_fenced_one_after_the_other() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    cluster.wait(9015)
    assert [one.fenced for one in cluster.image.brokers.values()] == [True, False, False]
    cluster.wait(1000)
    assert all(one.fenced for one in cluster.image.brokers.values())
    assert cluster.partition("t").elr == (3,), "who was left alone last has everything"


def test_a_heartbeat_counts_from_when_it_arrived() -> None:
    cluster = Cluster()
    cluster.now_ms += 8900
    cluster.shard.note_contact(1, cluster.epoch(1), cluster.now_ms)
    cluster.shard.note_contact(2, cluster.epoch(2) - 1, cluster.now_ms)
    cluster.wait(500)
    assert [one.fenced for one in cluster.image.brokers.values()] == [False, True, True]


def test_a_controller_that_was_held_up_blames_nobody() -> None:
    """KAFKA-15019: heartbeats wait unread while it works."""
    cluster = Cluster()
    cluster.now_ms += 14_000
    assert cluster.ring() == []
    beat_all_but(cluster, 3)
    cluster.wait(3000)
    assert [one.fenced for one in cluster.image.brokers.values()] == [False, False, True]


def test_a_new_controller_gives_everybody_a_new_session() -> None:
    cluster = Cluster()
    cluster.now_ms += 8999
    cluster.fail_over()
    cluster.wait(8999)
    assert not any(one.fenced for one in cluster.image.brokers.values())
    cluster.wait(100)
    assert all(one.fenced for one in cluster.image.brokers.values())


def test_who_shuts_down_and_falls_silent_is_fenced() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    cluster.heartbeat(1, want_shut_down=True)
    for _ in range(5):
        cluster.wait(2000)
        beat_all_but(cluster, 1)
    assert cluster.image.brokers[1].fenced


def test_one_node_alone_runs_no_timer() -> None:
    controller = Controller()
    assert len(controller.timers) == 0
    cluster = Cluster(1, ControllerConfig())
    assert len(cluster.timers) == 0
    before = len(cluster.log)
    assert cluster.wait(600_000) == []
    assert len(cluster.log) == before


def test_no_op_records_begin_with_the_second_node_and_end_with_it() -> None:
    cluster = Cluster(1, ControllerConfig())
    cluster.start(2)
    records = cluster.wait(2000)
    assert [type(one) for one in records] == [NoOpRecord] * 4
    cluster.fence(2)
    cluster.unregister(2)
    assert cluster.wait(60_000) == []
    controller = ControllerRegistrationRequest(controller_id=7)
    cluster.do(lambda shard: shard.decide_register_controller(controller, cluster.now_ms))
    assert len(cluster.wait(1000)) == 2
    assert list(cluster.image.controllers) == [7]


def test_a_new_controller_goes_on_with_the_periodic_work() -> None:
    cluster = Cluster(2, ControllerConfig())
    cluster.fail_over()
    assert len(cluster.wait(1000)) == 2
    missing = [key for key in ControllerTimer if cluster.timers.deadline_ms(key) is None]
    assert missing == [ControllerTimer.TOKENS], "there are no tokens"


def test_tokens_that_have_ended_leave_the_log_of_a_node_alone_too() -> None:
    config = ControllerConfig(
        token_secret="hush", token_expiry_ms=5000, token_check_interval_ms=60_000
    )
    cluster = Cluster(1, config)
    alice = Principal("User", "alice")

    def make(lifetime_ms: int = -1) -> None:
        request = CreateDelegationTokenRequest(max_lifetime_ms=lifetime_ms)
        cluster.do(lambda shard: shard.decide_token(request, alice, cluster.now_ms))

    make()
    cluster.wait(30_000)
    assert len(cluster.image.security.tokens) == 1, "it is looked at once a minute"
    cluster.fail_over()
    cluster.wait(60_001)
    assert not cluster.image.security.tokens
    cluster.wait(60_001)
    assert len(cluster.timers) == 0, "nothing is left to look at"
    make()
    cluster.wait(60_001)
    assert not cluster.image.security.tokens


def test_several_voters_are_a_cluster_too() -> None:
    cluster = Cluster(1, ControllerConfig())
    cluster.shard.quorum.voter_ids = frozenset({1, 2, 3})
    cluster.activate()
    assert len(cluster.wait(500)) == 1


def test_preferred_leaders_get_back_what_is_theirs() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3], [2, 3, 1])
    cluster.fence(1)
    cluster.heartbeat(1)
    cluster.set_isr("t", 2, 3, 1)
    assert cluster.partition("t").leader == 2
    for _ in range(60):
        cluster.wait(5000)
        beat_all_but(cluster)
    assert cluster.partition("t").leader == 1
    assert cluster.partition("t", 1).leader == 2


def test_or_not_where_that_is_off() -> None:
    cluster = Cluster(config=dataclasses.replace(QUIET, auto_leader_rebalance_enable=False))
    assert cluster.timers.deadline_ms(ControllerTimer.PREFERRED_LEADERS) is None


@pytest.mark.parametrize("limit", [2, 1000])
def test_many_elections_come_in_rounds(limit: int) -> None:
    cluster = Cluster(2, dataclasses.replace(QUIET, elections_per_round_max=limit))
    cluster.create("t", *[[1, 2]] * 5)
    cluster.fence(1)
    cluster.heartbeat(1)
    for index in range(5):
        cluster.set_isr("t", 2, 1, index=index)
    key = ControllerTimer.PREFERRED_LEADERS
    cluster.now_ms = cluster.timers.deadline_ms(key) or 0
    rounds = []
    while True:
        decision = cluster.take(cluster.shard.expire(key, cluster.now_ms))
        rounds.append(len(decision.records))
        due_ms = cluster.timers.deadline_ms(key) or 0
        if due_ms > cluster.now_ms + 1000:
            break
        cluster.now_ms = due_ms
    assert rounds == ([2, 2, 1] if limit == 2 else [5])


def test_leaderless_partitions_are_led_uncleanly_where_that_is_allowed_later() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2])
    cluster.create("u", [1, 2])
    for name in ("t", "u"):
        cluster.set_isr(name, 1)
    cluster.fence(1)
    cluster.set_config(2, "t", "unclean.leader.election.enable", "true")
    assert cluster.partition("t").leader == -1
    key = ControllerTimer.UNCLEAN_ELECTIONS
    cluster.now_ms = cluster.timers.deadline_ms(key) or 0
    (record,) = cluster.take(cluster.shard.expire(key, cluster.now_ms)).records
    assert isinstance(record, PartitionChangeRecord)
    assert cluster.partition("t").leader == 2
    assert cluster.partition("t").leader_recovery_state == 1
    assert cluster.partition("u").leader == -1
