"""What a broker says in a heartbeat, what the controller thinks of it, and what it answers."""

from __future__ import annotations

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.records.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from tests.unit.controller.cluster_kit import Cluster


def test_a_broker_is_let_in_once_it_has_seen_its_registration() -> None:
    cluster = Cluster(2)
    cluster.register(3)
    registered_at = len(cluster.log) - 1
    cluster.create("meanwhile", [1])
    request = cluster.heartbeat_request(3)
    request.current_metadata_offset = registered_at - 1
    reply = cluster.send(request)
    assert (reply.is_caught_up, reply.is_fenced) == (False, True)
    request.current_metadata_offset = registered_at
    request.want_fence = True
    reply = cluster.send(request)
    assert (reply.is_caught_up, reply.is_fenced) == (True, True)
    request.want_fence = False
    reply = cluster.send(request)
    assert (reply.is_caught_up, reply.is_fenced) == (True, False), "not the log's end"


def test_after_a_failover_a_broker_has_to_see_all_that_there_was() -> None:
    cluster = Cluster(2)
    cluster.register(3)
    cluster.create("meanwhile", [1])
    request = cluster.heartbeat_request(3)
    seen_all = request.current_metadata_offset
    cluster.fail_over()
    request.current_metadata_offset = seen_all - 1
    assert cluster.send(request).is_fenced
    request.current_metadata_offset = seen_all
    assert not cluster.send(request).is_fenced


@pytest.mark.parametrize("broker_id", [2, 9])
def test_a_wrong_epoch_and_an_unknown_broker_are_stale(broker_id: int) -> None:
    cluster = Cluster()
    request = cluster.heartbeat_request(2)
    request.broker_id, request.broker_epoch = broker_id, request.broker_epoch + 1
    with pytest.raises(ApiError) as refused:
        cluster.send(request)
    assert refused.value.code == ErrorCode.STALE_BROKER_EPOCH


def test_a_broker_may_ask_to_be_fenced() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    reply = cluster.heartbeat(1, want_fence=True)
    assert (reply.is_fenced, reply.should_shut_down) == (True, False)
    assert cluster.partition("t").leader == 2
    assert not cluster.heartbeat(1).is_fenced
    assert cluster.partition("t").isr == (2, 3), "the in-sync set is regained by fetching"


def test_wanting_both_means_at_once() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    reply = cluster.heartbeat(1, want_fence=True, want_shut_down=True)
    assert (reply.is_fenced, reply.should_shut_down) == (True, True)
    assert cluster.image.brokers[1].fenced


def test_a_fenced_broker_may_go_at_once() -> None:
    cluster = Cluster()
    cluster.heartbeat(1, want_fence=True)
    before = len(cluster.log)
    assert cluster.heartbeat(1, want_shut_down=True).should_shut_down
    assert len(cluster.log) == before


def test_who_leads_nothing_is_fenced_and_may_go_at_once() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    reply = cluster.heartbeat(3, want_shut_down=True)
    assert (reply.is_fenced, reply.should_shut_down) == (True, True)
    assert cluster.partition("t").isr == (1, 2)


def test_a_controlled_shutdown_waits_until_all_know_the_new_leaders() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3], [2, 1, 3])
    cluster.create("alone", [1])
    reply = cluster.heartbeat(1, want_shut_down=True)
    assert (reply.is_fenced, reply.should_shut_down) == (False, False)
    assert cluster.image.brokers[1].in_controlled_shutdown
    assert cluster.partition("t").leader == 2
    assert cluster.partition("t", 1).isr == (2, 3)
    assert cluster.partition("alone").leader == -1
    moved = len(cluster.log) - 1
    assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
    cluster.heartbeat(2)
    behind = cluster.heartbeat_request(3)
    behind.current_metadata_offset = moved - 1
    cluster.send(behind)
    assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
    behind.current_metadata_offset = moved
    cluster.send(behind)
    reply = cluster.heartbeat(1, want_shut_down=True)
    assert (reply.is_fenced, reply.should_shut_down) == (True, True)
    assert cluster.image.brokers[1].fenced


def test_a_controlled_shutdown_survives_the_controller() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    cluster.heartbeat(1, want_shut_down=True)
    cluster.fail_over()
    assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
    cluster.heartbeat(2)
    assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
    cluster.heartbeat(3)
    assert cluster.heartbeat(1, want_shut_down=True).should_shut_down


def test_one_on_its_way_out_is_neither_elected_nor_given_anything() -> None:
    cluster = Cluster(2)
    cluster.create("t", [1, 2])
    cluster.heartbeat(1, want_shut_down=True)
    cluster.fence(2)
    assert cluster.partition("t").leader == -1
    cluster.heartbeat(2)
    assert cluster.partition("t").leader == 2
    assert cluster.create("new", [1, 2]).partitions[0].isr == (2,)


def test_one_that_has_stopped_is_still_given_replicas() -> None:
    """As during a rolling restart: it comes back, and catches up."""
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    cluster.heartbeat(1, want_shut_down=True)
    assert cluster.spread("during", partitions=3, replicas=2) == {2, 3}
    cluster.heartbeat(2)
    cluster.heartbeat(3)
    assert cluster.heartbeat(1, want_shut_down=True).should_shut_down
    assert cluster.spread("after", partitions=3, replicas=3) == {1, 2, 3}
    assert {one.isr for one in cluster.topic("after").partitions.values()} <= {(2, 3), (3, 2)}


def test_a_heartbeat_that_waited_for_long_is_contact_and_nothing_else() -> None:
    cluster = Cluster()
    cluster.register(4)
    request = cluster.heartbeat_request(4)
    received_ms = cluster.now_ms + 8000
    with pytest.raises(ApiError) as refused:
        cluster.shard.decide_heartbeat(request, received_ms + 1001, received_ms)
    assert refused.value.code == ErrorCode.REQUEST_TIMED_OUT
    assert cluster.image.brokers[4].fenced
    cluster.now_ms = received_ms + 9000
    with pytest.raises(ApiError, match="registered"):
        cluster.register(4)


def test_a_directory_that_fails_takes_only_its_own_partitions() -> None:
    cluster = Cluster(2)
    here, there = bytes([7] * 16), bytes([8] * 16)
    request = cluster.registration(3)
    request.log_dirs = [here, there]
    cluster.register(3, request)
    cluster.heartbeat(3)
    cluster.create("t", [3, 1], [3, 1], [3, 1])
    topic = cluster.topic("t")
    cluster.place(3, {here: [0], there: [1]})
    beat = cluster.heartbeat_request(3)
    beat.offline_log_dirs = [there]
    before = len(cluster.log)
    cluster.send(beat)
    assert [one.leader for one in topic.partitions.values()] == [3, 1, 3]
    assert cluster.image.brokers[3].log_dirs == (here,)
    change = cluster.records()[-1]
    assert isinstance(change, BrokerRegistrationChangeRecord) and change.fenced == 0
    assert len(cluster.log) == before + 2
    cluster.send(beat)
    assert len(cluster.log) == before + 2, "said all the time, written once"
    cluster.fence(1)
    assert cluster.partition("t", 1).leader == -1, "not from a directory that is gone"


def test_a_broker_without_any_directory_is_fenced_and_stays_so() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2])
    beat = cluster.heartbeat_request(1)
    beat.offline_log_dirs = list(cluster.image.brokers[1].log_dirs)
    assert cluster.send(beat).is_fenced
    assert cluster.partition("t").leader == 2
    before = len(cluster.log)
    beat.current_metadata_offset = before
    assert cluster.send(beat).is_fenced
    assert len(cluster.log) == before
    beat.want_shut_down = True
    assert cluster.send(beat).should_shut_down


def test_nobody_is_let_in_on_a_directory_that_has_just_gone() -> None:
    cluster = Cluster(2)
    here, there = bytes([7] * 16), bytes([8] * 16)
    request = cluster.registration(3)
    request.log_dirs = [here, there]
    cluster.register(3, request)
    cluster.heartbeat(3)
    cluster.create("t", [3])
    cluster.place(3, {there: [0]})
    cluster.fence(3)
    beat = cluster.heartbeat_request(3)
    beat.offline_log_dirs = [there]
    assert cluster.send(beat).is_fenced
    assert not cluster.send(beat).is_fenced
    assert cluster.partition("t").leader == -1


def test_a_broker_with_every_directory_cordoned_gets_no_new_partitions() -> None:
    cluster = Cluster(2)
    beat = cluster.heartbeat_request(1)
    beat.cordoned_log_dirs = list(cluster.image.brokers[1].log_dirs)
    cluster.send(beat)
    before = len(cluster.log)
    cluster.send(beat)
    assert len(cluster.log) == before
    assert cluster.spread("t", partitions=4, replicas=1) == {2}
    beat.cordoned_log_dirs = []
    cluster.send(beat)
    assert cluster.spread("u", partitions=4, replicas=1) == {1, 2}
