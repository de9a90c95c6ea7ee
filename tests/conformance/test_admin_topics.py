"""Topics."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient

from penstock.model.error import ErrorCode
from tests.conformance.clients.admin import Admin, Partition
from tests.conformance.clients.admin_confluent import answer
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.record import BrokerError, Record
from tests.conformance.conftest import Cluster, wait_for_leaders
from tests.patience import wait_until

WITH_DEFAULTS = ["confluent-kafka", "kafka-python"]


@pytest.mark.feature("Create a topic, list it, describe it")
def test_create(admin_client: Admin, admin: AdminClient, cluster: Cluster, topic_name: str) -> None:
    admin_client.create_topic(topic_name, partitions=4)
    wait_for_leaders(admin, topic_name, 4)
    assert topic_name in admin_client.topic_names()
    found = admin_client.describe_topic(topic_name)
    assert sorted(found) == [0, 1, 2, 3]
    for each in found.values():
        assert each == Partition(each.leader, (each.leader,), (each.leader,))
    assert {each.leader for each in found.values()} == set(cluster.broker_ids)


@pytest.mark.feature("Create with the broker's default partitions and replication")
@pytest.mark.parametrize("admin_client", WITH_DEFAULTS, indirect=True)
def test_create_with_defaults(admin_client: Admin, admin: AdminClient, topic_name: str) -> None:
    admin_client.create_topic(topic_name, partitions=-1, replication=-1)
    wait_for_leaders(admin, topic_name, 3)
    assert len(admin_client.describe_topic(topic_name)) == 3


@pytest.mark.feature("Create with a replica assignment")
def test_create_with_assignment(
    admin_client: Admin, admin: AdminClient, cluster: Cluster, topic_name: str
) -> None:
    admin_client.create_topic(topic_name, assignment=[[cluster.broker_id]] * 2)
    wait_for_leaders(admin, topic_name, 2)
    found = admin_client.describe_topic(topic_name)
    assert [p.replicas for p in found.values()] == [(cluster.broker_id,)] * 2


@pytest.mark.feature("Create with settings")
def test_create_with_settings(admin_client: Admin, topic_name: str) -> None:
    settings = {"retention.ms": "3600000", "cleanup.policy": "compact,delete"}
    admin_client.create_topic(topic_name, config=settings)
    wait_until(lambda: topic_name in admin_client.topic_names())
    found = admin_client.describe_config("TOPIC", topic_name)
    for key, value in settings.items():
        assert (found[key].value, found[key].source) == (value, "DYNAMIC_TOPIC_CONFIG")


@pytest.mark.feature("Validate a creation without doing it")
def test_validate_only(admin_client: Admin, topic_name: str) -> None:
    admin_client.create_topic(topic_name, validate_only=True)
    assert topic_name not in admin_client.topic_names()
    with pytest.raises(BrokerError) as refused:
        admin_client.create_topic(topic_name, partitions=0, validate_only=True)
    assert refused.value.code == ErrorCode.INVALID_PARTITIONS


@pytest.mark.feature("Create what exists (TOPIC_ALREADY_EXISTS)")
def test_already_exists(admin_client: Admin, topic: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_topic(topic)
    assert refused.value.code == ErrorCode.TOPIC_ALREADY_EXISTS


@pytest.mark.feature("Names Kafka refuses (INVALID_TOPIC_EXCEPTION)")
@pytest.mark.parametrize("name", [".", "..", "with space", "slash/ed", "ünicode", "x" * 250])
def test_invalid_name(admin_client: Admin, name: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_topic(name)
    assert refused.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION


# librdkafka refuses what follows itself, before it asks the broker.
@pytest.mark.feature("Names Kafka refuses (INVALID_TOPIC_EXCEPTION)")
@pytest.mark.parametrize("admin_client", ["kafka-python", "aiokafka"], indirect=True)
def test_empty_name(admin_client: Admin) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_topic("")
    assert refused.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.feature("Zero or negative partitions (INVALID_PARTITIONS)")
@pytest.mark.parametrize("admin_client", ["kafka-python", "aiokafka"], indirect=True)
def test_negative_partitions(admin_client: Admin, topic_name: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_topic(topic_name, partitions=-2)
    assert refused.value.code == ErrorCode.INVALID_PARTITIONS


@pytest.mark.feature("The longest name, and names of all allowed characters")
def test_longest_name(admin_client: Admin, admin: AdminClient) -> None:
    name = (f"Az09._-{admin_client.name}-" + "x" * 249)[:249]
    admin_client.create_topic(name)
    wait_for_leaders(admin, name, 1)
    assert name in admin_client.topic_names()


@pytest.mark.feature("Names alike but for . and _ (INVALID_TOPIC_EXCEPTION)")
def test_colliding_name(admin_client: Admin, topic_name: str) -> None:
    admin_client.create_topic(topic_name + ".x")
    with pytest.raises(BrokerError) as refused:
        admin_client.create_topic(topic_name + "_x")
    assert refused.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.feature("Settings Kafka refuses (INVALID_CONFIG)")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("no.such.setting", "1"),
        ("retention.ms", "soon"),
        ("retention.ms", "-2"),
        ("cleanup.policy", "shred"),
        ("segment.bytes", "10"),
        ("min.cleanable.dirty.ratio", "1.5"),
        ("compression.type", "rar"),
    ],
)
def test_invalid_setting(admin_client: Admin, topic_name: str, key: str, value: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_topic(topic_name, config={key: value})
    assert refused.value.code == ErrorCode.INVALID_CONFIG
    assert topic_name not in admin_client.topic_names()


@pytest.mark.feature("Zero or negative partitions (INVALID_PARTITIONS)")
def test_no_partitions(admin_client: Admin, topic_name: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_topic(topic_name, partitions=0)
    assert refused.value.code == ErrorCode.INVALID_PARTITIONS


@pytest.mark.feature("More replicas than brokers, or none (INVALID_REPLICATION_FACTOR)")
def test_invalid_replication(admin_client: Admin, cluster: Cluster, topic_name: str) -> None:
    for replication in (len(cluster.broker_ids) + 1, 0):
        with pytest.raises(BrokerError) as refused:
            admin_client.create_topic(topic_name, replication=replication)
        assert refused.value.code == ErrorCode.INVALID_REPLICATION_FACTOR


@pytest.mark.feature("Assignment to a broker there is not (INVALID_REPLICA_ASSIGNMENT)")
def test_invalid_assignment(admin_client: Admin, topic_name: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_topic(topic_name, assignment=[[777]])
    assert refused.value.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


@pytest.mark.feature("Delete a topic")
def test_delete(admin_client: Admin, topic: str) -> None:
    admin_client.delete_topic(topic)
    wait_until(lambda: topic not in admin_client.topic_names())


@pytest.mark.feature("Create again what was deleted: it begins empty, with a new id")
def test_recreate(admin_client: Admin, admin: AdminClient, cluster: Cluster, topic: str) -> None:
    def topic_id() -> str:
        return str(answer(admin.describe_topics(TopicCollection([topic]))[topic]).topic_id)

    confluent = ConfluentClient(cluster.bootstrap_servers)
    confluent.produce(topic, [Record(b"gone soon")])
    first = topic_id()
    admin_client.delete_topic(topic)
    wait_until(lambda: topic not in admin_client.topic_names())
    admin_client.create_topic(topic, partitions=2)
    wait_for_leaders(admin, topic, 2)
    assert topic_id() != first
    assert confluent.bounds(topic) == (0, 0)


@pytest.mark.feature("Delete a topic there is not (UNKNOWN_TOPIC_OR_PARTITION)")
def test_delete_unknown(admin_client: Admin, topic_name: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.delete_topic(topic_name)
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.feature("Describe a topic there is not (UNKNOWN_TOPIC_OR_PARTITION)")
@pytest.mark.parametrize("admin_client", WITH_DEFAULTS, indirect=True)
def test_describe_unknown(admin_client: Admin, topic_name: str) -> None:
    # aiokafka's describe would create it: it always allows auto-creation.
    with pytest.raises(BrokerError) as refused:
        admin_client.describe_topic(topic_name)
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert topic_name not in admin_client.topic_names()


@pytest.mark.feature("Add partitions")
def test_create_partitions(admin_client: Admin, admin: AdminClient, topic: str) -> None:
    admin_client.create_partitions(topic, 3)
    wait_for_leaders(admin, topic, 3)
    assert len(admin_client.describe_topic(topic)) == 3


@pytest.mark.feature("Add partitions with an assignment")
def test_create_assigned_partitions(
    admin_client: Admin, admin: AdminClient, cluster: Cluster, topic: str
) -> None:
    admin_client.create_partitions(topic, 3, assignment=[cluster.broker_ids] * 2)
    wait_for_leaders(admin, topic, 3)


@pytest.mark.feature("Validate added partitions without adding them")
def test_validate_partitions(admin_client: Admin, topic: str) -> None:
    admin_client.create_partitions(topic, 3, validate_only=True)
    assert len(admin_client.describe_topic(topic)) == 1


@pytest.mark.feature("Fewer partitions, or as many as there are (INVALID_PARTITIONS)")
@pytest.mark.parametrize("total", [1, 2])
def test_no_more_partitions(
    admin_client: Admin, make_topic: Callable[..., str], total: int
) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_partitions(make_topic(2), total)
    assert refused.value.code == ErrorCode.INVALID_PARTITIONS


@pytest.mark.feature("Add partitions on a broker there is not (INVALID_REPLICA_ASSIGNMENT)")
def test_partitions_invalid_assignment(admin_client: Admin, topic: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_partitions(topic, 2, assignment=[[777]])
    assert refused.value.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


@pytest.mark.feature("Add partitions to a topic there is not (UNKNOWN_TOPIC_OR_PARTITION)")
def test_partitions_of_unknown(admin_client: Admin, topic_name: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.create_partitions(topic_name, 3)
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
