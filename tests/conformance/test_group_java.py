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
GROUPS = pytest.mark.client("kafka-consumer-groups")
START_MS = 1_700_000_000_000


def fill(cluster: Cluster, topic: str) -> None:
    """Ten records in each of two partitions, a second apart."""
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


@pytest.mark.feature("--list, with states and types")
@GROUPS
def test_list(
    tool: Tool, admin: AdminClient, membership: Membership, topic: str, group_id: str
) -> None:
    set_offsets_one(admin, f"{group_id}-empty", topic)
    member = membership.join("confluent-kafka", group_id, topic)
    wait_shared([member], places(topic, 1))
    plain = tool("kafka-consumer-groups", "--list").split()
    assert {group_id, f"{group_id}-empty"} <= set(plain)
    states = rows(tool("kafka-consumer-groups", "--list", "--state"))
    assert [group_id, "Stable"] in states
    assert [f"{group_id}-empty", "Empty"] in states
    kinds = rows(tool("kafka-consumer-groups", "--list", "--type", "classic"))
    assert [group_id, "Classic"] in kinds


def set_offsets_one(admin: AdminClient, group: str, topic: str) -> None:
    request = [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 1)])]
    answer(admin.alter_consumer_group_offsets(request)[group])


@pytest.mark.feature("--list and by protocol")
@pytest.mark.client("kafka-groups")
def test_groups_list(tool: Tool, membership: Membership, topic: str, group_id: str) -> None:
    member = membership.join("kafka-python", group_id, topic)
    wait_shared([member], places(topic, 1))
    listed = rows(tool("kafka-groups", "--list", "--group-type", "classic"))
    assert listed[0] == ["GROUP", "TYPE", "PROTOCOL"]
    assert [group_id, "Classic", "consumer"] in listed


@pytest.mark.feature("--describe: offsets, members, verbose, state")
@GROUPS
def test_describe(
    tool: Tool,
    admin: AdminClient,
    cluster: Cluster,
    membership: Membership,
    make_topic: MakeTopic,
    group_id: str,
) -> None:
    topic = make_topic(2)
    fill(cluster, topic)
    set_offsets(admin, group_id, topic, 4)
    member = membership.join("confluent-kafka", group_id, topic, instance="one")
    wait_shared([member], places(topic, 2))
    about = ["--describe", "--group", group_id]
    lags = rows(tool("kafka-consumer-groups", *about))
    assert lags[0][:6] == ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"]
    assert sorted(row[:6] for row in lags[1:]) == [
        [group_id, topic, partition, "4", "10", "6"] for partition in ("0", "1")
    ]
    verbose = rows(tool("kafka-consumer-groups", *about, "--members", "--verbose"))
    assert verbose[1][0] == group_id
    assert "one" in verbose[1]
    assert f"{topic}:0,1" in verbose[1]
    state = rows(tool("kafka-consumer-groups", *about, "--state"))
    assert state[1][0] == group_id
    assert {"range", "Stable", "1"} <= set(state[1])
    member.close()


@pytest.mark.feature("--reset-offsets in every form")
@GROUPS
def test_reset_offsets(
    tool: Tool,
    admin: AdminClient,
    cluster: Cluster,
    make_topic: MakeTopic,
    group_id: str,
    tmp_path: Path,
) -> None:
    topic = make_topic(2)
    fill(cluster, topic)
    set_offsets(admin, group_id, topic, 4)
    where = ["--reset-offsets", "--group", group_id, "--topic", topic]

    def reset(*how: str, mode: str = "--execute") -> dict[int, int]:
        tool("kafka-consumer-groups", *where, *how, mode)
        return offsets_of(admin, group_id)

    both = dict.fromkeys(range(2))
    assert reset("--to-earliest", mode="--dry-run") == dict.fromkeys(both, 4)
    assert reset("--to-earliest") == dict.fromkeys(both, 0)
    assert reset("--to-latest") == dict.fromkeys(both, 10)
    assert reset("--to-offset", "6") == dict.fromkeys(both, 6)
    assert reset("--shift-by", "-2") == dict.fromkeys(both, 4)
    when = time.strftime("%Y-%m-%dT%H:%M:%S.000", time.gmtime(START_MS / 1000 + 7)) + "Z"
    assert reset("--to-datetime", when) == dict.fromkeys(both, 7)
    assert reset("--to-current") == dict.fromkeys(both, 7)
    # All records are older than a day: there is none to go to but the end.
    assert reset("--by-duration", "P1D") == dict.fromkeys(both, 10)
    plan = tmp_path / "plan.csv"
    exported = tool("kafka-consumer-groups", *where, "--to-offset", "3", "--export", "--dry-run")
    lines = [line for line in exported.splitlines() if "," in line]
    assert sorted(re.sub('"', "", line) for line in lines) == [f"{topic},{p},3" for p in range(2)]
    plan.write_text("\n".join(lines) + "\n")
    from_file = ["--reset-offsets", "--group", group_id, "--from-file", str(plan), "--execute"]
    tool("kafka-consumer-groups", *from_file)
    assert offsets_of(admin, group_id) == dict.fromkeys(both, 3)


@pytest.mark.feature("--reset-offsets of a group with members is refused")
@GROUPS
def test_reset_of_members(tool: Tool, membership: Membership, topic: str, group_id: str) -> None:
    member = membership.join("confluent-kafka", group_id, topic)
    wait_shared([member], places(topic, 1))
    how = ["--reset-offsets", "--group", group_id, "--topic", topic, "--to-latest", "--execute"]
    said = tool("kafka-consumer-groups", *how)
    assert "Assignments can only be reset if the group" in said


@pytest.mark.feature("--delete-offsets, then --delete")
@GROUPS
def test_delete(tool: Tool, admin: AdminClient, make_topic: MakeTopic, group_id: str) -> None:
    topic = make_topic(2)
    set_offsets(admin, group_id, topic, 4)
    about = ["--group", group_id]
    said = tool("kafka-consumer-groups", "--delete-offsets", *about, "--topic", f"{topic}:0")
    assert "Request succeeded for deleting offsets" in said
    assert offsets_of(admin, group_id) == {1: 4}
    said = tool("kafka-consumer-groups", "--delete", *about)
    assert f"Deletion of requested consumer groups ('{group_id}') was successful." in said
    assert offsets_of(admin, group_id) == {}


@pytest.mark.feature("--group: reads on where it stopped (classic)")
@pytest.mark.client("kafka-console-consumer")
def test_console_consumer(
    tool: Tool, cluster: Cluster, admin: AdminClient, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(2)
    fill(cluster, topic)
    how = ["--topic", topic, "--group", group_id, "--from-beginning", "--timeout-ms", "8000"]
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
    topic = make_topic(2)
    fill(cluster, topic)
    size = ["--topic", topic, "--group", group_id, "--num-records", "20"]
    header, row = tool("kafka-consumer-perf-test", *size).splitlines()[-2:]
    shown = dict(zip(header.split(", "), row.split(", "), strict=True))
    assert shown["data.consumed.in.nMsg"] == "20"
