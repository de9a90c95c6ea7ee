"""Kafka's command line tools: consumer groups."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.conformance.clients.admin_confluent import answer
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.membership import Membership, places, wait_shared
from tests.conformance.clients.record import Record
from tests.conformance.conftest import Cluster

pytestmark = pytest.mark.java
Tool = Callable[..., str]
MakeTopic = Callable[..., str]
Groups = dict[str, str]
GROUPS = pytest.mark.client("kafka-consumer-groups")
START_MS = 1_700_000_000_000

ASSIGNORS = {"classic": "range", "consumer": "uniform"}
CONFLUENT = "confluent-kafka"
both_protocols = pytest.mark.parametrize("protocol", ["classic", "consumer"])


def fill(cluster: Cluster, topic: str) -> None:
    """Ten records in each of two partitions, a second apart and too old for most topics."""
    records = [
        Record(b"%d" % n, partition=p, timestamp=START_MS + n * 1000)
        for n in range(10)
        for p in range(2)
    ]
    ConfluentClient(cluster.bootstrap_servers).produce(topic, records)


def set_offsets(admin: AdminClient, group: str, topic: str, offset: int) -> None:
    wanted = [TopicPartition(topic, partition, offset) for partition in range(2)]
    request = [ConsumerGroupTopicPartitions(group, wanted)]
    answer(admin.alter_consumer_group_offsets(request)[group])


def offsets_of(admin: AdminClient, group: str) -> dict[int, int]:
    found = answer(admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group])
    return {one.partition: one.offset for one in found.topic_partitions}


def rows(said: str) -> list[list[str]]:
    return [line.split() for line in said.splitlines() if line.strip()]


@pytest.fixture
def groups(group_id: str) -> Groups:
    """A group of each protocol: the tools take both at once."""
    return {group_id: "classic", f"{group_id}-new": "consumer"}


def chosen(groups: Groups) -> list[str]:
    return [word for group in groups for word in ("--group", group)]


def had_members(membership: Membership, groups: Groups, topic: str) -> None:
    """A group without members keeps the protocol that its last one spoke."""
    for group, protocol in groups.items():
        member = membership.join(CONFLUENT, group, topic, protocol=protocol)
        wait_shared([member], places(topic, 2))
        member.close()


def all_offsets(admin: AdminClient, groups: Groups) -> set[int]:
    found = [offsets_of(admin, group) for group in groups]
    assert [len(offsets) for offsets in found] == [2, 2]
    return {offset for offsets in found for offset in offsets.values()}


@pytest.mark.feature("--list, with states and types, of both protocols")
@GROUPS
def test_list(
    tool: Tool, admin: AdminClient, membership: Membership, topic: str, group_id: str
) -> None:
    set_offsets_one(admin, f"{group_id}-empty", topic)
    member = membership.join(CONFLUENT, group_id, topic)
    other = membership.join(CONFLUENT, f"{group_id}-new", topic, protocol="consumer")
    wait_shared([member], places(topic, 1))
    wait_shared([other], places(topic, 1))
    states = rows(tool("kafka-consumer-groups", "--list", "--state"))
    assert [group_id, "Stable"] in states
    assert [f"{group_id}-empty", "Empty"] in states
    kinds = rows(tool("kafka-consumer-groups", "--list", "--type", "classic"))
    assert [group_id, "Classic"] in kinds
    assert [f"{group_id}-new", "Consumer"] not in kinds
    kinds = rows(tool("kafka-consumer-groups", "--list", "--type", "consumer"))
    assert [f"{group_id}-new", "Consumer"] in kinds
    assert [group_id, "Classic"] not in kinds


def set_offsets_one(admin: AdminClient, group: str, topic: str) -> None:
    request = [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 1)])]
    answer(admin.alter_consumer_group_offsets(request)[group])


@pytest.mark.feature("--list and by protocol")
@pytest.mark.client("kafka-groups")
def test_groups_list(tool: Tool, membership: Membership, topic: str, group_id: str) -> None:
    member = membership.join("kafka-python", group_id, topic)
    other = membership.join(CONFLUENT, f"{group_id}-new", topic, protocol="consumer")
    wait_shared([member], places(topic, 1))
    wait_shared([other], places(topic, 1))
    old, new = [group_id, "Classic", "consumer"], [f"{group_id}-new", "Consumer", "consumer"]
    listed = rows(tool("kafka-groups", "--list"))
    assert listed[0] == ["GROUP", "TYPE", "PROTOCOL"]
    assert old in listed and new in listed
    listed = rows(tool("kafka-groups", "--list", "--group-type", "classic"))
    assert old in listed and new not in listed


@pytest.mark.feature("--describe: offsets, members, verbose, state, in both protocols")
@GROUPS
def test_describe(
    tool: Tool,
    admin: AdminClient,
    cluster: Cluster,
    membership: Membership,
    make_topic: MakeTopic,
    groups: Groups,
) -> None:
    topic = make_topic(2, retention_ms="-1")
    fill(cluster, topic)
    for group, protocol in groups.items():
        set_offsets(admin, group, topic, 4)
        named = {"instance": "one", "protocol": protocol}
        wait_shared([membership.join(CONFLUENT, group, topic, **named)], places(topic, 2))

    def described(*how: str) -> dict[str, list[list[str]]]:
        said = rows(tool("kafka-consumer-groups", "--describe", *chosen(groups), *how))
        return {group: [row for row in said if row[0] == group] for group in groups}

    for group, found in described("--offsets").items():
        assert sorted(row[:6] for row in found) == [
            [group, topic, partition, "4", "10", "6"] for partition in ("0", "1")
        ]
    for (row,) in described("--members", "--verbose").values():
        assert "one" in row and f"{topic}:0,1" in row
    for group, (row,) in described("--state").items():
        assert {ASSIGNORS[groups[group]], "Stable", "1"} <= set(row)


@pytest.mark.feature("--reset-offsets in every form, in both protocols")
@GROUPS
def test_reset_offsets(
    tool: Tool,
    admin: AdminClient,
    cluster: Cluster,
    membership: Membership,
    make_topic: MakeTopic,
    groups: Groups,
    tmp_path: Path,
) -> None:
    topic = make_topic(2, retention_ms="-1")
    fill(cluster, topic)
    had_members(membership, groups, topic)
    for group in groups:
        set_offsets(admin, group, topic, 4)
    where = ["--reset-offsets", *chosen(groups)]

    def reset(*how: str, mode: str = "--execute") -> set[int]:
        tool("kafka-consumer-groups", *where, "--topic", topic, *how, mode)
        return all_offsets(admin, groups)

    assert reset("--to-earliest", mode="--dry-run") == {4}
    assert reset("--to-earliest") == {0}
    assert reset("--to-latest") == {10}
    assert reset("--to-offset", "6") == {6}
    assert reset("--shift-by", "-2") == {4}
    when = time.strftime("%Y-%m-%dT%H:%M:%S.000", time.gmtime(START_MS / 1000 + 7)) + "Z"
    assert reset("--to-datetime", when) == {7}
    assert reset("--to-current") == {7}
    # All records are older than a day: there is none to go to but the end.
    assert reset("--by-duration", "P1D") == {10}
    how = ["--all-topics", "--to-offset", "3", "--export", "--dry-run"]
    exported = tool("kafka-consumer-groups", *where, *how)
    lines = [line for line in exported.splitlines() if "," in line]
    assert sorted(re.sub('"', "", line) for line in lines) == sorted(
        f"{group},{topic},{partition},3" for group in groups for partition in range(2)
    )
    plan = tmp_path / "plan.csv"
    plan.write_text("\n".join(lines) + "\n")
    tool("kafka-consumer-groups", *where, "--from-file", str(plan), "--execute")
    assert all_offsets(admin, groups) == {3}


@pytest.mark.feature("--reset-offsets of a group with members is refused, in both protocols")
@GROUPS
def test_reset_of_members(
    tool: Tool, membership: Membership, make_topic: MakeTopic, groups: Groups
) -> None:
    topic = make_topic(2)
    for group, protocol in groups.items():
        wait_shared([membership.join(CONFLUENT, group, topic, protocol=protocol)], places(topic, 2))
    how = ["--reset-offsets", *chosen(groups), "--topic", topic, "--to-latest", "--execute"]
    said = tool("kafka-consumer-groups", *how)
    for group in groups:
        assert f"Assignments can only be reset if the group '{group}' is inactive" in said


@pytest.mark.feature("--delete-offsets, then --delete, in both protocols")
@GROUPS
def test_delete(
    tool: Tool,
    admin: AdminClient,
    membership: Membership,
    make_topic: MakeTopic,
    groups: Groups,
) -> None:
    topic = make_topic(2)
    had_members(membership, groups, topic)
    for group in groups:
        set_offsets(admin, group, topic, 4)
        about = ["--group", group, "--topic", f"{topic}:0"]
        said = tool("kafka-consumer-groups", "--delete-offsets", *about)
        assert "Request succeeded for deleting offsets" in said
        assert offsets_of(admin, group) == {1: 4}
    said = tool("kafka-consumer-groups", "--delete", *chosen(groups))
    assert re.search(r"Deletion of requested consumer groups .* was successful", said)
    assert [offsets_of(admin, group) for group in groups] == [{}, {}]


@pytest.mark.feature("--entity-type groups: settings of a group, changed and shown")
@pytest.mark.client("kafka-configs")
def test_settings(tool: Tool, group_id: str) -> None:
    about = ["--entity-type", "groups", "--entity-name", group_id]
    name = "consumer.session.timeout.ms"
    tool("kafka-configs", *about, "--alter", "--add-config", f"{name}=46000")
    assert f"{name}=46000" in tool("kafka-configs", *about, "--describe")
    said = tool("kafka-configs", *about, "--alter", "--add-config", f"{name}=5", fails=True)
    assert name in said and "InvalidConfigurationException" in said
    tool("kafka-configs", *about, "--alter", "--delete-config", name)
    assert f"{name}=46000" not in tool("kafka-configs", *about, "--describe")


@pytest.mark.feature("--group: reads on where it stopped, in both protocols")
@pytest.mark.client("kafka-console-consumer")
@both_protocols
def test_console_consumer(
    protocol: str,
    tool: Tool,
    cluster: Cluster,
    admin: AdminClient,
    make_topic: MakeTopic,
    group_id: str,
) -> None:
    topic = make_topic(2, retention_ms="-1")
    fill(cluster, topic)
    how = ["--topic", topic, "--group", group_id, "--from-beginning", "--timeout-ms", "8000"]
    how += ["--command-property", f"group.protocol={protocol}"]
    said = tool("kafka-console-consumer", *how, "--max-messages", "20")
    assert "Processed a total of 20 messages" in said
    assert offsets_of(admin, group_id) == {0: 10, 1: 10}
    fill(cluster, topic)
    said = tool("kafka-console-consumer", *how, "--max-messages", "20")
    assert "Processed a total of 20 messages" in said
    assert offsets_of(admin, group_id) == {0: 20, 1: 20}


@pytest.mark.feature("With a group")
@pytest.mark.client("kafka-consumer-perf-test")
def test_consumer_perf(tool: Tool, cluster: Cluster, make_topic: MakeTopic, group_id: str) -> None:
    topic = make_topic(2, retention_ms="-1")
    fill(cluster, topic)
    size = ["--topic", topic, "--group", group_id, "--num-records", "20"]
    header, row = tool("kafka-consumer-perf-test", *size).splitlines()[-2:]
    shown = dict(zip(header.split(", "), row.split(", "), strict=True))
    assert shown["data.consumed.in.nMsg"] == "20"
