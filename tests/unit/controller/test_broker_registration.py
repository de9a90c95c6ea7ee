"""Who may register as a broker, and what becomes of what its last life held."""

from __future__ import annotations

import dataclasses

import pytest

from penstock.controller import BOOTSTRAP_FEATURES, ControllerConfig
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.broker_registration import BrokerRegistrationRequest, Feature
from penstock.protocol.messages.records.register_broker_record import RegisterBrokerRecord
from tests.unit.controller.cluster_kit import Cluster

QUIET = ControllerConfig(metadata_max_idle_interval_ms=0)


def refusal(cluster: Cluster, request: BrokerRegistrationRequest) -> ErrorCode:
    with pytest.raises(ApiError) as refused:
        cluster.register(request.broker_id, request)
    return refused.value.code


def test_an_id_in_session_is_taken() -> None:
    cluster = Cluster()
    again = cluster.registration(2)
    assert refusal(cluster, again) == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    cluster.now_ms += 9000
    assert refusal(cluster, again) == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    cluster.now_ms += 1
    epoch = cluster.epoch(2)
    cluster.register(2, again)
    assert cluster.epoch(2) > epoch


def test_a_fenced_broker_is_in_session_too() -> None:
    cluster = Cluster()
    cluster.heartbeat(2, want_fence=True)
    assert refusal(cluster, cluster.registration(2)) == ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_one_that_was_told_to_shut_down_is_not_waited_for() -> None:
    cluster = Cluster()
    assert cluster.heartbeat(2, want_shut_down=True).should_shut_down
    cluster.restart(2, clean=True)
    assert cluster.image.brokers[2].fenced


def test_one_whose_process_is_gone_is_not_waited_for() -> None:
    cluster = Cluster()
    cluster.fence(2)
    cluster.restart(2, clean=False)


def test_another_clusters_broker_is_refused() -> None:
    cluster = Cluster(0, dataclasses.replace(QUIET, cluster_id="mine"))
    request = cluster.registration(1)
    request.cluster_id = "other"
    assert refusal(cluster, request) == ErrorCode.INCONSISTENT_CLUSTER_ID
    request.cluster_id = "mine"
    cluster.register(1, request)


def test_a_broker_of_a_zookeeper_cluster_is_refused() -> None:
    cluster = Cluster()
    request = cluster.registration(9)
    request.is_migrating_zk_broker = True
    assert refusal(cluster, request) == ErrorCode.BROKER_ID_NOT_REGISTERED


@pytest.mark.parametrize("name", [*BOOTSTRAP_FEATURES, "kraft.version", "of.tomorrow"])
def test_each_feature_is_compared(name: str) -> None:
    cluster = Cluster()
    cluster.shard.quorum.kraft_version = 1
    request = cluster.registration(9)
    request.features.append(Feature(name="kraft.version", max_supported_version=1))
    request.features.append(Feature(name="of.tomorrow", max_supported_version=7))
    wrong = next(one for one in request.features if one.name == name)
    low, high = wrong.min_supported_version, wrong.max_supported_version
    wrong.min_supported_version, wrong.max_supported_version = 80, 90
    assert refusal(cluster, request) == ErrorCode.UNSUPPORTED_VERSION
    wrong.min_supported_version, wrong.max_supported_version = low, high
    cluster.register(9, request)


def test_a_broker_has_to_name_its_metadata_levels() -> None:
    cluster = Cluster()
    request = cluster.registration(9)
    request.features = [one for one in request.features if one.name != "metadata.version"]
    assert refusal(cluster, request) == ErrorCode.INVALID_REGISTRATION


def test_the_same_life_again_keeps_epoch_and_state() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3])
    beat = cluster.heartbeat_request(2)
    beat.cordoned_log_dirs = list(cluster.image.brokers[2].log_dirs)
    cluster.send(beat)
    request = cluster.registration(2)
    request.incarnation_id = cluster.image.brokers[2].incarnation_id
    request.rack = "elsewhere"
    before = cluster.image.brokers[2]
    (record,) = cluster.register(2, request).records
    assert isinstance(record, RegisterBrokerRecord)
    after = cluster.image.brokers[2]
    assert after == dataclasses.replace(before, rack="elsewhere")
    assert cluster.partition("t").isr == (1, 2, 3)


def test_after_a_clean_stop_a_broker_is_still_eligible() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3], min_insync_replicas=3)
    cluster.now_ms += 10_000
    records = cluster.restart(2, clean=True)
    assert isinstance(records[-1], RegisterBrokerRecord)
    assert cluster.partition("t").isr == (1, 3)
    assert cluster.partition("t").elr == (2,)


def test_after_an_unclean_stop_a_broker_is_not_eligible() -> None:
    cluster = Cluster()
    cluster.create("in-sync", [2, 1, 3], min_insync_replicas=3)
    cluster.create("was-eligible", [1, 2, 3], min_insync_replicas=3)
    cluster.set_isr("was-eligible", 1, 3)
    assert cluster.partition("was-eligible").elr == (2,)
    cluster.now_ms += 10_000
    records = cluster.restart(2, clean=False)
    assert isinstance(records[-1], RegisterBrokerRecord)
    for name in ("in-sync", "was-eligible"):
        partition = cluster.partition(name)
        assert (partition.leader, partition.isr, partition.elr) == (1, (1, 3), ())


@pytest.mark.parametrize("was_in_sync", [True, False])
def test_after_a_clean_stop_what_was_in_a_directory_that_is_taken_away_is_not_eligible(
    was_in_sync: bool,
) -> None:
    """The broker makes such a replica anew, with nothing in it, and says where. Elected, it would
    take from the others what they have committed."""
    cluster = Cluster(2)
    kept, away = bytes(15) + b"\xd1", bytes(15) + b"\xd2"
    request = cluster.registration(3)
    request.log_dirs = [kept, away]
    cluster.register(3, request)
    cluster.heartbeat(3)
    cluster.create("t", [3, 1, 2], [3, 1, 2], min_insync_replicas=3)
    cluster.place(3, {away: [0], kept: [1]})
    if not was_in_sync:
        cluster.set_isr("t", 3, 1)
        cluster.fence(3)
        assert 3 in cluster.partition("t").elr
    cluster.now_ms += 10_000
    request = cluster.registration(3)
    request.log_dirs, request.previous_broker_epoch = [kept], cluster.epoch(3)
    cluster.register(3, request)
    cluster.place(3, {kept: [0]})
    cluster.heartbeat(3)
    for broker_id in (1, 2):
        cluster.fence(broker_id)
    assert cluster.partition("t").leader == -1
    assert cluster.partition("t", 1).leader == 3


def test_an_old_request_cannot_say_that_the_stop_was_clean() -> None:
    cluster = Cluster()
    cluster.create("t", [1, 2, 3], min_insync_replicas=3)
    cluster.now_ms += 10_000
    request = cluster.registration(2)
    request.previous_broker_epoch = cluster.epoch(2)
    cluster.register(2, request, version=2)
    assert cluster.partition("t").elr == ()


def test_without_eligible_leaders_any_stop_is_like_fencing() -> None:
    features = {**BOOTSTRAP_FEATURES, "eligible.leader.replicas.version": 0}
    cluster = Cluster(config=dataclasses.replace(QUIET, bootstrap_features=features))
    cluster.create("t", [2, 1])
    cluster.create("alone", [2])
    cluster.now_ms += 10_000
    cluster.restart(2, clean=False)
    assert (cluster.partition("t").leader, cluster.partition("t").isr) == (1, (1,))
    assert (cluster.partition("alone").leader, cluster.partition("alone").isr) == (-1, (2,))


def test_epochs_grow_over_restarts_and_failovers() -> None:
    cluster = Cluster()
    epochs = [cluster.epoch(2)]
    for _ in range(3):
        cluster.fence(2)
        cluster.fail_over()
        cluster.restart(2, clean=False)
        epochs.append(cluster.epoch(2))
    assert epochs == sorted(set(epochs))
    assert epochs[-1] <= len(cluster.log) - 1
