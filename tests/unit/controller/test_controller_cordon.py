"""Brokers that take no new replicas, as the controller knows of them (KIP-1066)."""

from __future__ import annotations

import pytest

from penstock.controller import ControllerShard
from penstock.metadata.version import METADATA_VERSION
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.unit.controller.cluster_kit import Cluster
from tests.unit.controller.controller_kit import Controller

CORDONED = "cordoned.log.dirs"
HERE, THERE = bytes([7] * 16), bytes([8] * 16)


def cordon(cluster: Cluster, broker_id: int, *directories: bytes) -> None:
    beat = cluster.heartbeat_request(broker_id)
    beat.cordoned_log_dirs = list(directories)
    cluster.send(beat)


def all_of(cluster: Cluster, broker_id: int) -> tuple[bytes, ...]:
    return cluster.image.brokers[broker_id].log_dirs


def grow(cluster: Cluster, name: str, count: int) -> tuple[int, str | None]:
    topic = CreatePartitionsTopic(name=name, count=count, assignments=None)
    request = CreatePartitionsRequest(topics=[topic])
    (result,) = cluster.do(lambda shard: shard.decide_create_partitions(request)).results
    return result.error_code, result.error_message


def test_a_broker_with_an_open_directory_takes_replicas() -> None:
    cluster = Cluster(1)
    request = cluster.registration(2)
    request.log_dirs = [HERE, THERE]
    cluster.register(2, request)
    cluster.heartbeat(2)
    cordon(cluster, 2, HERE)
    assert cluster.spread("t", partitions=4, replicas=1) == {1, 2}
    cordon(cluster, 2, THERE, HERE)
    assert cluster.spread("u", partitions=4, replicas=1) == {1}
    # One that it has not does not count.
    cordon(cluster, 2, bytes([9] * 16))
    assert cluster.spread("v", partitions=4, replicas=1) == {1, 2}


def test_where_no_other_broker_is_left_nothing_is_made() -> None:
    cluster = Cluster(2)
    cluster.create("t", [1, 2])
    cordon(cluster, 1, *all_of(cluster, 1))
    topic = CreatableTopic(name="u", num_partitions=1, replication_factor=2)
    request = CreateTopicsRequest(topics=[topic])
    (result,) = cluster.do(lambda shard: shard.decide_create_topics(request)).topics
    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert "all their log directories cordoned" in str(result.error_message)
    code, message = grow(cluster, "t", 2)
    assert code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert "all their log directories cordoned" in str(message)
    cordon(cluster, 2, *all_of(cluster, 2))
    topic.replication_factor = 1
    (result,) = cluster.do(lambda shard: shard.decide_create_topics(request)).topics
    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    # What is there is led and goes on.
    assert (cluster.partition("t").leader, cluster.partition("t").isr) == (1, (1, 2))
    cordon(cluster, 1)
    cordon(cluster, 2)
    assert grow(cluster, "t", 2) == (ErrorCode.NONE, None)


def test_whoever_names_a_cordoned_broker_gets_it() -> None:
    """As on Apache Kafka 4.3: only what the controller chooses itself stays away."""
    cluster = Cluster(3)
    cordon(cluster, 1, *all_of(cluster, 1))
    cluster.create("t", [1, 2])
    assert cluster.partition("t").replicas == (1, 2)
    cluster.create("u", [2, 3])
    assert cluster.reassign("u", [1, 3]).error_code == ErrorCode.NONE


def test_a_new_life_of_a_broker_says_again_what_is_cordoned() -> None:
    cluster = Cluster(2)
    cordon(cluster, 1, *all_of(cluster, 1))
    cluster.now_ms += 10_000
    cluster.restart(1, clean=True)
    assert cluster.image.brokers[1].cordoned_log_dirs is None
    cordon(cluster, 1, *all_of(cluster, 1))
    assert cluster.spread("t", partitions=4, replicas=1) == {2}


def test_a_node_that_is_its_own_cluster_says_it_without_heartbeats() -> None:
    alone = Controller()
    broker = alone.image.brokers[1]

    def say(shard: ControllerShard, epoch: int, *directories: bytes) -> int:
        return len(alone.take(shard.decide_cordon(1, epoch, directories)).records)

    assert say(alone.shard, broker.epoch, *broker.log_dirs) == 1
    assert alone.image.brokers[1].cordoned_log_dirs == broker.log_dirs
    assert say(alone.shard, broker.epoch, *broker.log_dirs) == 0
    assert say(alone.shard, broker.epoch) == 1
    with pytest.raises(ApiError) as refused:
        say(alone.shard, broker.epoch + 1)
    assert refused.value.code == ErrorCode.STALE_BROKER_EPOCH


@pytest.mark.parametrize("value", ["*", "", None])
def test_below_its_level_the_setting_is_refused(value: str | None) -> None:
    cluster = Cluster(1)
    cluster.image.features[METADATA_VERSION] = 29
    change = AlterableConfig(name=CORDONED, value=value, config_operation=int(value is None))
    resource = AlterConfigsResource(resource_type=4, resource_name="1", configs=[change])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    (result,) = cluster.do(lambda shard: shard.decide_incremental_alter_configs(request)).responses
    assert result.error_code == ErrorCode.INVALID_CONFIG
    assert "requires metadata.version" in str(result.error_message)
    cluster.image.features[METADATA_VERSION] = 30
    (result,) = cluster.do(lambda shard: shard.decide_incremental_alter_configs(request)).responses
    assert result.error_code == ErrorCode.NONE


def test_all_brokers_at_once_are_not_cordoned() -> None:
    cluster = Cluster(1)
    change = AlterableConfig(name=CORDONED, value="*")
    resource = AlterConfigsResource(resource_type=4, resource_name="", configs=[change])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    (result,) = cluster.do(lambda shard: shard.decide_incremental_alter_configs(request)).responses
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert "broker id must be specified" in str(result.error_message)
