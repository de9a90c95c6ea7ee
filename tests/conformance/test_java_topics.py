"""Kafka's command line tools: topics and settings."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient

from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.conftest import Cluster, wait_for_leaders
from tests.patience import wait_until

pytestmark = pytest.mark.java
Tool = Callable[..., str]


@pytest.mark.feature("--create with partitions and settings, then --describe")
@pytest.mark.client("kafka-topics")
def test_create_and_describe(
    tool: Tool, admin: AdminClient, cluster: Cluster, topic_name: str
) -> None:
    settings = ["--config", "retention.ms=1000000", "--config", "cleanup.policy=compact,delete"]
    said = tool("kafka-topics", "--create", "--topic", topic_name, "--partitions", "2", *settings)
    assert f"Created topic {topic_name}." in said
    wait_for_leaders(admin, topic_name, 2)
    first, *partitions = tool("kafka-topics", "--describe", "--topic", topic_name).splitlines()
    assert re.match(rf"Topic: {topic_name}\tTopicId: [\w-]{{22}}\tPartitionCount: 2\t", first)
    replicas = len(cluster.broker_ids)
    assert f"ReplicationFactor: {replicas}\t" in first
    assert "retention.ms=1000000" in first and "cleanup.policy=compact,delete" in first
    for number, line in enumerate(partitions):
        place = rf"\tTopic: {topic_name}\tPartition: {number}\tLeader: (\d)\tReplicas: (\S+)"
        found = re.match(place + r"\tIsr: (\S+)", line)
        assert found is not None, line
        assert found[2].startswith(found[1])
        assert sorted(map(int, found[2].split(","))) == cluster.broker_ids
        assert found[2] == found[3]
    assert len(partitions) == 2


@pytest.mark.feature("--create with the broker's defaults")
@pytest.mark.client("kafka-topics")
def test_create_with_defaults(tool: Tool, admin: AdminClient, topic_name: str) -> None:
    tool("kafka-topics", "--create", "--topic", topic_name)
    wait_for_leaders(admin, topic_name, 3)


@pytest.mark.feature("--create what exists fails, with --if-not-exists it does not")
@pytest.mark.client("kafka-topics")
def test_create_existing(tool: Tool, topic: str) -> None:
    said = tool("kafka-topics", "--create", "--topic", topic, fails=True)
    assert f"Topic '{topic}' already exists." in said
    tool("kafka-topics", "--create", "--topic", topic, "--if-not-exists")


@pytest.mark.feature("--create with a setting or replication Kafka refuses")
@pytest.mark.client("kafka-topics")
def test_create_refused(tool: Tool, cluster: Cluster, topic_name: str) -> None:
    create = ["--create", "--topic", topic_name]
    said = tool("kafka-topics", *create, "--config", "segment.bytes=1", fails=True)
    assert "segment.bytes" in said
    more = len(cluster.broker_ids) + 2
    said = tool("kafka-topics", *create, "--replication-factor", str(more), fails=True)
    assert f"Unable to replicate the partition {more} time(s)" in said


@pytest.mark.feature("--list shows a topic until --delete")
@pytest.mark.client("kafka-topics")
def test_list_and_delete(tool: Tool, admin: AdminClient, topic: str) -> None:
    assert topic in tool("kafka-topics", "--list").splitlines()
    tool("kafka-topics", "--delete", "--topic", topic)
    wait_until(lambda: topic not in admin.list_topics(timeout=PATIENCE_SECONDS).topics)


@pytest.mark.feature("--describe of a topic there is not fails, --delete --if-exists does not")
@pytest.mark.client("kafka-topics")
def test_unknown(tool: Tool, topic_name: str) -> None:
    expected = f"Topic '{topic_name}' does not exist as expected"
    assert expected in tool("kafka-topics", "--describe", "--topic", topic_name, fails=True)
    tool("kafka-topics", "--delete", "--topic", topic_name, "--if-exists")


@pytest.mark.feature("--alter --partitions adds partitions and refuses fewer")
@pytest.mark.client("kafka-topics")
def test_alter_partitions(tool: Tool, admin: AdminClient, topic: str) -> None:
    tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "4")
    wait_for_leaders(admin, topic, 4)
    said = tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "3", fails=True)
    assert f"The topic {topic} currently has 4 partition(s); 3 would not be an increase." in said


@pytest.mark.feature("--describe --topics-with-overrides")
@pytest.mark.client("kafka-topics")
def test_describe_filters(tool: Tool, make_topic: Callable[..., str]) -> None:
    tuned = make_topic(retention_ms="1000000")
    assert f"Topic: {tuned}\t" in tool("kafka-topics", "--describe", "--topics-with-overrides")


@pytest.mark.feature("--alter and --describe of a topic's settings")
@pytest.mark.client("kafka-configs")
def test_topic_settings(tool: Tool, make_topic: Callable[..., str]) -> None:
    topic = make_topic(retention_ms="1000000")
    added = ["--add-config", "segment.ms=700000,cleanup.policy=[compact,delete]"]
    said = tool(
        "kafka-configs", "--alter", "--topic", topic, *added, "--delete-config", "retention.ms"
    )
    assert f"Completed updating config for topic {topic}." in said
    first, *lines = tool("kafka-configs", "--describe", "--topic", topic).splitlines()
    assert first == f"Dynamic configs for topic {topic} are:"
    assert sorted(line.split(" sensitive=")[0].strip() for line in lines) == [
        "cleanup.policy=compact,delete",
        "segment.ms=700000",
    ]


@pytest.mark.feature("--describe --all of a topic: every setting, its default, its synonyms")
@pytest.mark.client("kafka-configs")
def test_all_topic_settings(tool: Tool, make_topic: Callable[..., str]) -> None:
    topic = make_topic(max_message_bytes="2000000")
    said = tool("kafka-configs", "--describe", "--topic", topic, "--all")
    synonyms = {
        "retention.ms=604800000": "",
        "segment.bytes=1073741824": "DEFAULT_CONFIG:log.segment.bytes=1073741824",
        "cleanup.policy=delete": "DEFAULT_CONFIG:log.cleanup.policy=delete",
        "max.message.bytes=2000000": "DYNAMIC_TOPIC_CONFIG:max.message.bytes=2000000, "
        "DEFAULT_CONFIG:message.max.bytes=1048588",
    }
    expected = [f"{key} sensitive=false synonyms={{{names}}}" for key, names in synonyms.items()]
    lines = [line.strip() for line in said.splitlines()]
    assert [line for line in expected if line not in lines] == []


@pytest.mark.feature("A setting there is not is refused")
@pytest.mark.client("kafka-configs")
def test_unknown_setting(tool: Tool, topic: str) -> None:
    alter = ["--alter", "--topic", topic, "--add-config", "no.such.setting=1"]
    said = tool("kafka-configs", *alter, fails=True)
    assert "InvalidConfigurationException: Unknown topic config name: no.such.setting" in said


@pytest.mark.feature("--alter and --describe of a broker's settings")
@pytest.mark.client("kafka-configs")
def test_broker_settings(tool: Tool, cluster: Cluster) -> None:
    broker = ["--broker", str(cluster.broker_id)]
    key = "log.cleaner.threads"
    said = tool("kafka-configs", "--describe", *broker, "--all")
    assert (
        "num.partitions=3 sensitive=false synonyms={STATIC_BROKER_CONFIG:num.partitions=3" in said
    )
    tool("kafka-configs", "--alter", *broker, "--add-config", f"{key}=2")
    assert f"{key}=2 " in tool("kafka-configs", "--describe", *broker)
    tool("kafka-configs", "--alter", *broker, "--delete-config", key)
