"""The cluster, its brokers and their disks."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient, NewPartitions

from penstock.model.error import ErrorCode
from tests.conformance.clients.admin import Admin
from tests.conformance.clients.admin_confluent import answer
from tests.conformance.clients.admin_kafka_python import (
    KafkaAdminClient,
    KafkaPythonAdmin,
    TopicPartition,
    call,
)
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.record import BrokerError, numbered
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

WITH_ELECTION = ["confluent-kafka", "kafka-python"]


@pytest.fixture
def kafka_python(cluster: Cluster) -> Iterator[KafkaAdminClient]:
    """For the calls that only kafka-python has."""
    admin = KafkaPythonAdmin(cluster.bootstrap_servers)
    yield admin.client
    admin.close()


@pytest.mark.feature("Describe the cluster: id, controller, brokers")
def test_describe_cluster(admin_client: Admin, cluster: Cluster) -> None:
    found = admin_client.describe_cluster()
    assert found.brokers == cluster.addresses
    # Of a cluster whose controllers are no clients' business, any broker: they all send on.
    assert found.controller in cluster.broker_ids
    assert len(found.cluster_id) == 22  # sixteen bytes in base64 without padding


@pytest.mark.feature("A topic keeps its id when partitions are added")
@pytest.mark.client("confluent-kafka")
def test_topic_id(admin: AdminClient, topic: str) -> None:
    first = answer(admin.describe_topics(TopicCollection([topic]))[topic]).topic_id
    answer(admin.create_partitions([NewPartitions(topic, 2)])[topic])
    again = answer(admin.describe_topics(TopicCollection([topic]))[topic]).topic_id
    assert str(first) == str(again)


@pytest.mark.feature("Describe and delete a topic by its id")
@pytest.mark.client("kafka-python")
def test_by_topic_id(kafka_python: KafkaAdminClient, topic: str) -> None:
    (found,) = kafka_python.describe_topics([topic])
    topic_id = uuid.UUID(found["topic_id"])
    assert topic_id.int != 0
    (by_id,) = kafka_python.describe_topics([topic_id])
    assert (by_id["name"], by_id["error_code"]) == (topic, 0)
    kafka_python.delete_topics([topic_id])
    wait_until(lambda: topic not in kafka_python.list_topics())


@pytest.mark.feature("An id there is not (UNKNOWN_TOPIC_ID)")
@pytest.mark.client("kafka-python")
def test_unknown_topic_id(kafka_python: KafkaAdminClient) -> None:
    (found,) = kafka_python.describe_topics([uuid.uuid4()])
    assert found["error_code"] == ErrorCode.UNKNOWN_TOPIC_ID
    with pytest.raises(BrokerError) as refused:
        call(kafka_python.delete_topics, [uuid.uuid4()])
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.feature("What a caller may do to topics and cluster")
@pytest.mark.client("confluent-kafka")
def test_authorized_operations(admin: AdminClient, topic: str) -> None:
    question = admin.describe_topics(TopicCollection([topic]), include_authorized_operations=True)
    on_topic = {o.name for o in answer(question[topic]).authorized_operations}
    assert on_topic == {
        "READ",
        "WRITE",
        "CREATE",
        "DELETE",
        "ALTER",
        "DESCRIBE",
        "DESCRIBE_CONFIGS",
        "ALTER_CONFIGS",
    }
    found = answer(admin.describe_cluster(include_authorized_operations=True))
    on_cluster = {o.name for o in found.authorized_operations}
    assert on_cluster == {
        "CREATE",
        "ALTER",
        "DESCRIBE",
        "CLUSTER_ACTION",
        "DESCRIBE_CONFIGS",
        "ALTER_CONFIGS",
        "IDEMPOTENT_WRITE",
    }


@pytest.mark.feature("Partition by partition, in pages (DescribeTopicPartitions)")
@pytest.mark.client("kafka-python")
def test_topic_partitions(
    kafka_python: KafkaAdminClient, admin: AdminClient, make_topic: object
) -> None:
    topic = make_topic(5)  # type: ignore[operator]
    seen: list[int] = []
    cursor = None
    while True:
        page = kafka_python.describe_topic_partitions(
            [topic], response_partition_limit=2, cursor=cursor
        )
        (found,) = page["topics"]
        seen += [p["partition_index"] for p in found["partitions"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [0, 1, 2, 3, 4]


@pytest.mark.feature("Elect a preferred leader where it leads already (ELECTION_NOT_NEEDED)")
@pytest.mark.parametrize("admin_client", WITH_ELECTION, indirect=True)
def test_elect_preferred(admin_client: Admin, topic: str) -> None:
    assert admin_client.elect_leader("PREFERRED", topic) == ErrorCode.ELECTION_NOT_NEEDED
    assert admin_client.elect_leader("UNCLEAN", topic) == ErrorCode.ELECTION_NOT_NEEDED


@pytest.mark.feature("Elect a leader for a partition there is not")
@pytest.mark.parametrize("admin_client", WITH_ELECTION, indirect=True)
def test_elect_unknown(admin_client: Admin, topic_name: str) -> None:
    found = admin_client.elect_leader("PREFERRED", topic_name)
    assert found == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.feature("Log directories and the size of each partition")
@pytest.mark.client("kafka-python")
def test_log_dirs(kafka_python: KafkaAdminClient, cluster: Cluster, topic: str) -> None:
    ConfluentClient(cluster.bootstrap_servers).produce(topic, numbered(10))
    found = kafka_python.describe_log_dirs({topic: [0]})
    homes = {str(cluster.data_dir_of(each)) for each in cluster.broker_ids}
    for broker in found:
        (log_dir,) = broker["log_dirs"]
        assert log_dir["error_code"] == 0
        homes.remove(log_dir["log_dir"])
        assert log_dir["total_bytes"] >= log_dir["usable_bytes"] > 0
        (described,) = log_dir["topics"]
        (partition,) = described["partitions"]
        segment = Path(log_dir["log_dir"]) / f"{topic}-0" / f"{0:020}.log"
        assert partition["partition_size"] == segment.stat().st_size > 0
        assert (partition["offset_lag"], partition["is_future_key"]) == (0, False)
    assert not homes


@pytest.mark.feature("Active producers of a partition (DescribeProducers)")
@pytest.mark.client("kafka-python")
def test_producers(kafka_python: KafkaAdminClient, cluster: Cluster, topic: str) -> None:
    where = TopicPartition(topic, 0)
    assert kafka_python.describe_producers([where])[where].active_producers == []
    ConfluentClient(cluster.bootstrap_servers).produce(topic, numbered(3), idempotent=True)
    (state,) = kafka_python.describe_producers([where])[where].active_producers
    assert (state.producer_epoch, state.last_sequence) == (0, 2)
    assert (state.coordinator_epoch, state.current_transaction_start_offset) == (-1, -1)


@pytest.mark.feature("List everything that has settings (ListConfigResources)")
@pytest.mark.client("kafka-python")
def test_config_resources(kafka_python: KafkaAdminClient, cluster: Cluster, topic: str) -> None:
    found = kafka_python.list_config_resources()
    assert topic in found["topic"]
    assert str(cluster.broker_id) in found["broker"]
    only = kafka_python.list_config_resources(["TOPIC"])
    assert set(only) == {"topic"} and topic in only["topic"]


@pytest.mark.feature("The metadata quorum: leader, voters, high watermark")
@pytest.mark.client("kafka-python")
def test_metadata_quorum(kafka_python: KafkaAdminClient, cluster: Cluster) -> None:
    found = kafka_python.describe_metadata_quorum()
    (topic,) = found["topics"]
    (partition,) = topic["partitions"]
    assert topic["topic_name"] == "__cluster_metadata"
    assert partition["error"] is None
    assert partition["leader_id"] in cluster.broker_ids
    assert partition["leader_epoch"] >= 1
    assert partition["high_watermark"] > 0
    voters = [voter["replica_id"] for voter in partition["current_voters"]]
    assert sorted(voters) == cluster.broker_ids


@pytest.mark.feature("API versions: every API of one node in Kafka's ranges")
@pytest.mark.client("kafka-python")
def test_api_versions(kafka_python: KafkaAdminClient) -> None:
    expected = {
        "Produce": (0, 13),
        "Fetch": (4, 18),
        "ListOffsets": (1, 11),
        "Metadata": (0, 13),
        "ApiVersions": (0, 4),
        "CreateTopics": (2, 7),
        "DeleteTopics": (1, 6),
        "DeleteRecords": (0, 2),
        "InitProducerId": (0, 5),
        "OffsetForLeaderEpoch": (2, 4),
        "DescribeConfigs": (1, 4),
        "AlterConfigs": (0, 2),
        "AlterReplicaLogDirs": (1, 2),
        "DescribeLogDirs": (1, 5),
        "CreatePartitions": (0, 3),
        "ElectLeaders": (0, 2),
        "IncrementalAlterConfigs": (0, 1),
        "AlterPartitionReassignments": (0, 1),
        "ListPartitionReassignments": (0, 0),
        "DescribeQuorum": (0, 2),
        "DescribeCluster": (0, 2),
        "DescribeProducers": (0, 0),
        "ListConfigResources": (0, 1),
        "DescribeTopicPartitions": (0, 0),
    }
    found = {key.name: tuple(versions) for key, versions in kafka_python.api_versions().items()}
    assert {name: found.get(name) for name in expected} == expected
