"""Levels of features: who has to support one before the cluster may settle on it."""

from __future__ import annotations

import dataclasses

import pytest

from penstock.controller import BOOTSTRAP_FEATURES, SUPPORTED_FEATURES, ControllerConfig
from penstock.model.error import ErrorCode
from penstock.protocol.messages import controller_registration
from penstock.protocol.messages.broker_registration import Feature
from penstock.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from tests.unit.controller.cluster_kit import Cluster

UPGRADE, SAFE_DOWNGRADE = 1, 2
ELR = "eligible.leader.replicas.version"
OLDER = {**BOOTSTRAP_FEATURES, "metadata.version": 27, "transaction.version": 1, ELR: 0}
CONFIG = ControllerConfig(
    metadata_max_idle_interval_ms=0,
    bootstrap_features=OLDER,
    feature_ranges=SUPPORTED_FEATURES,
)


def cluster_of(config: ControllerConfig = CONFIG) -> Cluster:
    cluster = Cluster(0, config)
    for broker_id in (1, 2):
        request = cluster.registration(broker_id)
        request.features = [
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in SUPPORTED_FEATURES.items()
        ]
        cluster.register(broker_id, request)
        cluster.heartbeat(broker_id)
    return cluster


def update(
    cluster: Cluster, kind: int = UPGRADE, validate_only: bool = False, **levels: int
) -> UpdateFeaturesResponse:
    request = UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(
                feature=name.replace("_", "."), max_version_level=level, upgrade_type=kind
            )
            for name, level in levels.items()
        ],
        validate_only=validate_only,
    )
    return cluster.do(lambda shard: shard.decide_update_features(request, 2, 7))


def test_levels_go_up_together() -> None:
    cluster = cluster_of()
    assert update(cluster, metadata_version=30, transaction_version=2).error_code == 0
    assert cluster.image.features["metadata.version"] == 30
    assert cluster.image.features["transaction.version"] == 2
    assert cluster.reloaded() == cluster.image


def test_looking_is_not_doing() -> None:
    cluster = cluster_of()
    assert update(cluster, validate_only=True, metadata_version=30).error_code == 0
    assert cluster.image.features["metadata.version"] == 27


@pytest.mark.parametrize("fenced", [False, True])
def test_every_registered_broker_has_to_support_it(fenced: bool) -> None:
    cluster = cluster_of()
    request = cluster.registration(3)
    request.features = [
        Feature(name=name, max_supported_version=level) for name, level in OLDER.items()
    ]
    cluster.register(3, request)
    cluster.heartbeat(3, want_fence=fenced)
    reply = update(cluster, metadata_version=30)
    assert reply.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert "Broker 3 only supports versions 0-27" in (reply.error_message or "")
    cluster.fence(3)
    cluster.unregister(3)
    assert update(cluster, metadata_version=30).error_code == 0


def test_every_controller_has_to_support_it_and_to_have_said_so() -> None:
    cluster = cluster_of()
    cluster.shard.quorum.voter_ids = frozenset({7, 8})
    reply = update(cluster, metadata_version=30)
    assert "controller 8 has not registered" in (reply.error_message or "")
    for high, is_enough in ((29, False), (30, True)):
        feature = controller_registration.Feature(
            name="metadata.version", min_supported_version=7, max_supported_version=high
        )
        request = controller_registration.ControllerRegistrationRequest(
            controller_id=8, features=[feature]
        )
        cluster.do(
            lambda shard, request=request: shard.decide_register_controller(request, cluster.now_ms)
        )
        assert (update(cluster, metadata_version=30).error_code == 0) == is_enough


def test_a_way_back_is_open_while_the_records_are_the_same() -> None:
    cluster = cluster_of()
    back = update(cluster, UPGRADE, metadata_version=26)
    assert "without setting the upgrade type" in (back.error_message or "")
    assert update(cluster, SAFE_DOWNGRADE, metadata_version=26).error_code == 0
    assert update(cluster, SAFE_DOWNGRADE, metadata_version=22).error_code != 0
    assert update(cluster, SAFE_DOWNGRADE, metadata_version=27).error_code != 0
    assert update(cluster, UPGRADE, metadata_version=30).error_code == 0
    lost = update(cluster, SAFE_DOWNGRADE, metadata_version=29)
    assert "might delete metadata" in (lost.error_message or "")


def test_eligible_leaders_need_their_level_and_one_min_insync_replicas() -> None:
    levels = {**OLDER, "metadata.version": 22}
    cluster = cluster_of(dataclasses.replace(CONFIG, bootstrap_features=levels))
    cluster.set_config(4, "1", "min.insync.replicas", "2")
    request = {ELR.replace(".", "_"): 1}
    assert "needs metadata.version 23" in (update(cluster, **request).error_message or "")
    assert update(cluster, metadata_version=30, **request).error_code == 0
    assert cluster.image.configs.broker(1) == {}
    assert cluster.image.configs.broker(None)["min.insync.replicas"] == "1"


def test_who_is_eligible_is_forgotten_with_the_feature() -> None:
    levels = {**BOOTSTRAP_FEATURES, "metadata.version": 30}
    cluster = cluster_of(dataclasses.replace(CONFIG, bootstrap_features=levels))
    cluster.create("t", [1, 2], min_insync_replicas=2)
    cluster.set_isr("t", 1)
    assert cluster.partition("t").elr == (2,)
    assert update(cluster, SAFE_DOWNGRADE, **{ELR.replace(".", "_"): 0}).error_code == 0
    assert cluster.partition("t").elr == ()


def test_what_a_node_cannot_change_while_it_runs_stays() -> None:
    cluster = cluster_of(dataclasses.replace(CONFIG, feature_ranges={}))
    assert update(cluster, metadata_version=27).error_code == 0
    reply = update(cluster, metadata_version=30)
    assert "Local controller 7 only supports versions 27-27" in (reply.error_message or "")
