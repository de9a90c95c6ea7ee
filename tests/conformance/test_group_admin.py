"""Consumer groups: admin calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from penstock.model.error import ErrorCode
from penstock.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.conformance.clients.admin_confluent import answer
from tests.conformance.clients.admin_kafka_python import KafkaPythonAdmin
from tests.conformance.clients.member import Committed, Place
from tests.conformance.clients.membership import Membership, places, wait_shared
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.record import BrokerError
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

MakeTopic = Callable[..., str]
CONFLUENT = pytest.mark.client("confluent-kafka")
KAFKA_PYTHON = pytest.mark.client("kafka-python")


def alter(admin: AdminClient, group: str, offsets: Mapping[Place, int]) -> None:
    wanted = [TopicPartition(*place, offset) for place, offset in offsets.items()]
    request = [ConsumerGroupTopicPartitions(group, wanted)]
    done = answer(admin.alter_consumer_group_offsets(request)[group])
    for one in done.topic_partitions:
        if one.error is not None:
            raise BrokerError(one.error.code(), one.error.str())


def offsets_of(admin: AdminClient, group: str) -> dict[Place, int]:
    found = answer(admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group])
    return {(one.topic, one.partition): one.offset for one in found.topic_partitions}


@pytest.fixture
def kafka_python(cluster: Cluster) -> Iterator[Any]:
    from kafka import TopicPartition as Partition
    from kafka.structs import OffsetAndMetadata

    admin = KafkaPythonAdmin(cluster.bootstrap_servers)
    admin.client.place = lambda place: Partition(*place)
    admin.client.offset = lambda offset: OffsetAndMetadata(offset, "by hand", -1)
    yield admin.client
    admin.close()


@pytest.mark.feature("Set and list offsets of a group without members")
@CONFLUENT
def test_alter_offsets(
    admin: AdminClient, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(2)
    assert offsets_of(admin, group_id) == {}
    alter(admin, group_id, {(topic, 0): 5, (topic, 1): 7})
    assert offsets_of(admin, group_id) == {(topic, 0): 5, (topic, 1): 7}
    simple = membership.join("aiokafka", group_id)
    found = simple.ask(lambda consumer: consumer.committed([(topic, 1)]))
    assert found == {(topic, 1): Committed(7)}


@pytest.mark.feature("Setting offsets of a group with members is refused")
@CONFLUENT
def test_alter_offsets_of_members(
    admin: AdminClient, membership: Membership, topic: str, group_id: str
) -> None:
    member = membership.join("confluent-kafka", group_id, topic)
    wait_shared([member], places(topic, 1))
    with pytest.raises((BrokerError, KafkaException)) as refused:
        alter(admin, group_id, {(topic, 0): 5})
    assert "UNKNOWN_MEMBER_ID" in str(refused.value)


@pytest.mark.feature("List groups by state and type")
@CONFLUENT
def test_list_groups(admin: AdminClient, membership: Membership, topic: str, group_id: str) -> None:
    from confluent_kafka import ConsumerGroupState as State
    from confluent_kafka import ConsumerGroupType as Type

    alter(admin, f"{group_id}-empty", {(topic, 0): 1})
    member = membership.join("confluent-kafka", group_id, topic)
    wait_shared([member], places(topic, 1))

    def listed(**filters: Any) -> dict[str, tuple[Any, Any]]:
        found = answer(admin.list_consumer_groups(**filters))
        assert not found.errors
        return {
            one.group_id: (one.state, one.type)
            for one in found.valid
            if one.group_id.startswith(group_id)
        }

    stable, empty = (State.STABLE, Type.CLASSIC), (State.EMPTY, Type.CLASSIC)
    assert listed() == {group_id: stable, f"{group_id}-empty": empty}
    assert listed(states={State.STABLE}) == {group_id: stable}
    assert listed(states={State.EMPTY}) == {f"{group_id}-empty": empty}
    assert listed(types={Type.CONSUMER}) == {}
    assert len(listed(types={Type.CLASSIC})) == 2


@pytest.mark.feature("Describe a group: state, assignor, members and what they hold")
@CONFLUENT
def test_describe_group(
    admin: AdminClient, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(3)
    members = [membership.join("confluent-kafka", group_id, topic, instance=n) for n in "ab"]
    wait_shared(members, places(topic, 3))
    found = answer(admin.describe_consumer_groups([group_id])[group_id])
    assert found.state.name == "STABLE"
    assert found.partition_assignor == "range"
    assert not found.is_simple_consumer_group
    assert sorted(one.group_instance_id for one in found.members) == ["a", "b"]
    assert {one.client_id for one in found.members} == {"rdkafka"}
    assert {one.host for one in found.members} == {"/127.0.0.1"}
    held = [
        (one.topic, one.partition)
        for member in found.members
        for one in member.assignment.topic_partitions
    ]
    assert set(held) == places(topic, 3)


@pytest.mark.feature("Delete groups: empty, with members, unknown")
@CONFLUENT
def test_delete_groups(
    admin: AdminClient, membership: Membership, topic: str, group_id: str
) -> None:
    def delete() -> None:
        answer(admin.delete_consumer_groups([group_id])[group_id])

    with pytest.raises(BrokerError) as refused:
        delete()
    assert refused.value.code == ErrorCode.GROUP_ID_NOT_FOUND
    alter(admin, group_id, {(topic, 0): 5})
    member = membership.join("confluent-kafka", group_id, topic)
    wait_shared([member], places(topic, 1))
    with pytest.raises(BrokerError) as refused:
        delete()
    assert refused.value.code == ErrorCode.NON_EMPTY_GROUP
    member.close()
    delete()
    assert offsets_of(admin, group_id) == {}


@pytest.mark.feature("Set and list offsets of a group without members")
@KAFKA_PYTHON
def test_alter_offsets_kafka_python(kafka_python: Any, topic: str, group_id: str) -> None:
    place = kafka_python.place((topic, 0))
    results = kafka_python.alter_group_offsets(group_id, {place: kafka_python.offset(5)})
    assert [error.errno for error in results.values()] == [ErrorCode.NONE]
    found = kafka_python.list_group_offsets(group_id)[group_id]
    assert [(at.topic, one.offset, one.metadata) for at, one in found.items()] == [
        (topic, 5, "by hand")
    ]


@pytest.mark.feature("Delete offsets: of a topic that is read, of one that is not")
@KAFKA_PYTHON
def test_delete_offsets(
    kafka_python: Any, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    unread, read = make_topic(), make_topic()
    two = [kafka_python.place((name, 0)) for name in (unread, read)]
    kafka_python.alter_group_offsets(group_id, {one: kafka_python.offset(5) for one in two})
    member = membership.join("kafka-python", group_id, read)
    wait_shared([member], places(read, 1))
    results = kafka_python.delete_group_offsets(group_id, two)
    assert {at.topic: error.errno for at, error in results.items()} == {
        unread: ErrorCode.NONE,
        read: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
    }
    assert set(kafka_python.list_group_offsets(group_id)[group_id]) == {two[1]}


@pytest.mark.feature("Describe a group: state, assignor, members and what they hold")
@KAFKA_PYTHON
def test_describe_kafka_python(
    kafka_python: Any, membership: Membership, topic: str, group_id: str
) -> None:
    member = membership.join("kafka-python", group_id, topic)
    wait_shared([member], places(topic, 1))
    found = kafka_python.describe_groups([group_id])[group_id]
    assert (found["group_state"], found["protocol_type"], found["protocol_data"]) == (
        "Stable",
        "consumer",
        "range",
    )
    assert [one["client_id"].split("-")[0] for one in found["members"]] == ["kafka"]
    member.close()
    assert kafka_python.describe_groups([group_id])[group_id]["group_state"] == "Empty"


@pytest.mark.feature("Settings of a group: changed, shown, obeyed, refused, taken back")
@CONFLUENT
def test_group_settings(
    admin: AdminClient, cluster: Cluster, make_topic: MakeTopic, group_id: str
) -> None:
    name = "consumer.heartbeat.interval.ms"
    topic = make_topic()

    def alter(operation: AlterConfigOpType, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=operation)
        resource = ConfigResource(ResourceType.GROUP, group_id, incremental_configs=[entry])
        answer(admin.incremental_alter_configs([resource])[resource])

    def shown() -> str:
        resource = ConfigResource(ResourceType.GROUP, group_id)
        return str(answer(admin.describe_configs([resource])[resource])[name].value)

    def obeyed() -> int:
        request = ConsumerGroupHeartbeatRequest(
            group_id=group_id,
            member_id="member",
            rebalance_timeout_ms=5_000,
            subscribed_topic_names=[topic],
            topic_partitions=[],
        )
        return int(connection.call(request, 1).heartbeat_interval_ms)

    connection = Connection(cluster.bootstrap_servers)
    try:
        assert (shown(), obeyed()) == ("200", 200)
        alter(AlterConfigOpType.SET, "777")
        wait_until(lambda: (shown(), obeyed()) == ("777", 777))
        # Less than the broker's own minimum.
        with pytest.raises(BrokerError) as refused:
            alter(AlterConfigOpType.SET, "100")
        assert refused.value.code == ErrorCode.INVALID_CONFIG
        alter(AlterConfigOpType.DELETE, "")
        wait_until(lambda: (shown(), obeyed()) == ("200", 200))
    finally:
        connection.close()


@pytest.mark.feature("Describe and list a group of the new protocol")
@CONFLUENT
def test_describe_new(
    admin: AdminClient, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    from confluent_kafka import ConsumerGroupType as Type

    topic = make_topic(3)
    members = [
        membership.join("confluent-kafka", group_id, topic, instance=name, protocol="consumer")
        for name in "ab"
    ]
    wait_shared(members, places(topic, 3))
    wait_until(
        lambda: answer(admin.describe_consumer_groups([group_id])[group_id]).state.name == "STABLE"
    )
    found = answer(admin.describe_consumer_groups([group_id])[group_id])
    assert (found.type, found.partition_assignor) == (Type.CONSUMER, "uniform")
    assert sorted(one.group_instance_id for one in found.members) == ["a", "b"]
    for one in found.members:
        held = {(at.topic, at.partition) for at in one.assignment.topic_partitions}
        aimed = {(at.topic, at.partition) for at in one.target_assignment.topic_partitions}
        assert held == aimed
    listed = answer(admin.list_consumer_groups(types={Type.CONSUMER})).valid
    assert [one.type for one in listed if one.group_id == group_id] == [Type.CONSUMER]
