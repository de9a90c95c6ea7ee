"""Kafka's own tools on three nodes while nodes die: leaders, replicas, controllers, coordinators.

Each test leaves a whole cluster behind. Nodes hear of a change one after the other, and a tool asks
any of them: what it says is waited for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Place

from penstock.model.id import TopicPartition
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.testing.cluster import Cluster as ThreeNodes
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.routing import GROUP, TRANSACTION
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

pytestmark = [pytest.mark.java, pytest.mark.timeout(900)]
PATIENCE_S = 180.0
Tool = Callable[..., str]


@pytest.fixture
def nodes(cluster: Cluster) -> Iterator[ThreeNodes]:
    assert cluster.nodes is not None
    yield cluster.nodes
    for each in cluster.nodes.nodes:
        if each not in cluster.nodes.running:
            cluster.nodes.start(each)
    cluster.nodes.wait_in_sync(timeout_s=PATIENCE_S)


@pytest.fixture
def replicated(nodes: ThreeNodes, topic_name: str) -> str:
    """A topic on all three, with a few records."""
    nodes.create_topic(topic_name, timeout_s=PATIENCE_S)
    values = [f"value {number}" for number in range(10)]
    nodes.produce(topic_name, values, timeout_s=PATIENCE_S)
    return topic_name


def only_part(topic: str) -> TopicPartition:
    return TopicPartition(topic, 0)


def values(nodes: ThreeNodes, topic: str) -> list[bytes | None]:
    return [each.value for each in nodes.read(topic, timeout_s=PATIENCE_S)]


def coordinator(cluster: Cluster, kind: int, key: str) -> int:
    connection = Connection(cluster.bootstrap_servers.partition(",")[0])
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    found: list[int] = []

    def find() -> bool:
        (answer,) = connection.call(request, 4).coordinators
        found[:] = [answer.node_id]
        return bool(answer.error_code == 0)

    try:
        wait_until(find)
    finally:
        connection.close()
    return found[0]


def test_topics_say_what_is_missing(nodes: ThreeNodes, tool: Tool, replicated: str) -> None:
    describe = ["--describe", "--topic", replicated]
    leader = nodes.leader(replicated)
    away = next(each for each in nodes.nodes if each != leader)

    def listed(option: str) -> str:
        return tool("kafka-topics", *describe, option).strip()

    wait_until(lambda: listed("--under-replicated-partitions") == "")
    nodes.kill(away)

    def is_missing() -> bool:
        in_sync = re.search(r"\tIsr: (\S+)", listed("--under-replicated-partitions"))
        return in_sync is not None and str(away) not in in_sync[1].split(",")

    wait_until(is_missing)
    assert listed("--under-min-isr-partitions") == ""
    wait_until(lambda: f"Topic: {replicated}" in listed("--at-min-isr-partitions"))
    nodes.start(away)
    wait_until(lambda: listed("--under-replicated-partitions") == "")


def test_a_preferred_leader_gets_its_place_back(
    nodes: ThreeNodes, tool: Tool, replicated: str
) -> None:
    preferred = nodes.partitions()[only_part(replicated)].replicas[0]
    nodes.kill(preferred)
    nodes.produce(replicated, ["led by another"], timeout_s=PATIENCE_S)
    assert nodes.leader(replicated) != preferred
    nodes.start(preferred)
    nodes.wait_in_sync(timeout_s=PATIENCE_S)
    election = ["--election-type", "preferred", "--topic", replicated, "--partition", "0"]
    said = tool("kafka-leader-election", *election)
    assert f"Successfully completed leader election (PREFERRED) for partitions {replicated}-0" in (
        said
    )
    wait_until(lambda: nodes.leader(replicated) == preferred)
    assert values(nodes, replicated)[-1] == b"led by another"


def test_replicas_are_moved_and_the_old_ones_go(
    nodes: ThreeNodes, tool: Tool, topic_name: str, tmp_path: Path
) -> None:
    nodes.create_topic(topic_name, replication_factor=2, timeout_s=PATIENCE_S)
    sent = [f"{number}".encode() * 100 for number in range(200)]
    nodes.produce(topic_name, sent, timeout_s=PATIENCE_S)
    before = nodes.partitions()[only_part(topic_name)].replicas
    (new,) = set(nodes.nodes) - set(before)
    plan = tmp_path / "plan.json"
    moved = {"topic": topic_name, "partition": 0, "replicas": [new, before[1]]}
    plan.write_text(json.dumps({"version": 1, "partitions": [moved]}))
    where = ["--reassignment-json-file", str(plan)]
    throttle = ["--throttle", "100000000"]
    said = tool("kafka-reassign-partitions", "--execute", *where, *throttle)
    assert f"Successfully started partition reassignment for {topic_name}-0" in said

    def done() -> bool:
        said = tool("kafka-reassign-partitions", "--verify", *where)
        return f"Reassignment of partition {topic_name}-0 is completed." in said

    wait_until(done)
    wait_until(lambda: nodes.partitions()[only_part(topic_name)].replicas == (new, before[1]))
    nodes.wait_in_sync(timeout_s=PATIENCE_S)
    assert values(nodes, topic_name) == sent
    old = nodes.nodes[before[0]].data_dir / f"{topic_name}-0"
    wait_until(lambda: not old.exists())
    described = ["--describe", "--topic", topic_name]
    wait_until(lambda: "throttled" not in tool("kafka-topics", *described))


def test_another_controller_takes_over(nodes: ThreeNodes, tool: Tool, topic_name: str) -> None:
    def status() -> dict[str, str]:
        said = tool("kafka-metadata-quorum", "describe", "--status")
        return dict(re.findall(r"^(\w+):\s+(.*)$", said, re.MULTILINE))

    first = nodes.controller()
    wait_until(lambda: status()["LeaderId"] == str(first))
    before = status()
    nodes.kill(first)
    wait_until(lambda: nodes.controller() != first)
    wait_until(lambda: status()["LeaderId"] == str(nodes.controller()))
    after = status()
    assert int(after["LeaderEpoch"]) > int(before["LeaderEpoch"])
    said = tool("kafka-topics", "--create", "--topic", topic_name, "--replication-factor", "2")
    assert f"Created topic {topic_name}." in said
    nodes.start(first)

    def level() -> bool:
        _, *rows = tool("kafka-metadata-quorum", "describe", "--replication").splitlines()
        lag = {row.split()[0]: int(row.split()[3]) for row in rows}
        return set(lag) == {"1", "2", "3"} and lag[str(first)] <= 1

    wait_until(level)


def test_features_are_the_same_at_every_node(nodes: ThreeNodes, tool: Tool) -> None:
    def described(node: int) -> list[str]:
        address = nodes.nodes[node].bootstrap_servers
        said = tool("kafka-features", "--bootstrap-server", address, "describe")
        return [re.sub(r"\s+Epoch: \d+", "", line) for line in said.splitlines()]

    first = described(1)
    assert any(line.startswith("Feature: metadata.version") for line in first)
    assert described(2) == described(3) == first


def test_a_group_goes_on_when_its_coordinator_dies(
    cluster: Cluster, nodes: ThreeNodes, tool: Tool, replicated: str
) -> None:
    group = f"{replicated}-group"
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    try:
        consumer.subscribe([replicated])
        read: list[int] = []

        def take(until: int) -> bool:
            record = consumer.poll(0.2)
            if record is not None and record.error() is None:
                read.append(record.offset() or 0)
            return len(set(read)) >= until

        wait_until(lambda: take(10))
        consumer.commit(offsets=[Place(replicated, 0, 7)], asynchronous=False)
        nodes.kill(coordinator(cluster, GROUP, group))
        rows: list[list[str]] = []

        def describe() -> bool:
            described = tool("kafka-consumer-groups", "--describe", "--group", group)
            rows[:] = [line.split() for line in described.splitlines() if replicated in line]
            return bool(rows)

        wait_until(describe)
        row = rows[0]
        assert (row[1], row[3]) == (replicated, "7")
        nodes.produce(replicated, ["one more"], timeout_s=PATIENCE_S)
        wait_until(lambda: take(11))

        def committed() -> bool:
            try:
                consumer.commit(offsets=[Place(replicated, 0, 11)], asynchronous=False)
            except Exception:
                consumer.poll(0.1)
                return False
            return True

        wait_until(committed)
        assert consumer.committed([Place(replicated, 0)], PATIENCE_S)[0].offset == 11
    finally:
        consumer.close()


def test_a_transaction_ends_when_its_coordinator_dies(
    cluster: Cluster, nodes: ThreeNodes, tool: Tool, replicated: str
) -> None:
    name = f"{replicated}-writer"
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "transactional.id": name,
            "transaction.timeout.ms": 900_000,
        }
    )
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    producer.produce(replicated, b"committed", partition=0)
    producer.flush(PATIENCE_S)
    first = coordinator(cluster, TRANSACTION, name)
    nodes.kill(first)
    # Told of the dead one just before it is fenced, Kafka's tool would wait for it in vain.
    wait_until(lambda: all(one.leader != first for one in nodes.partitions().values()))
    described = tool("kafka-transactions", "describe", "--transactional-id", name)
    head, row = (re.split(r"\s*\t\s*", line.strip()) for line in described.splitlines()[:2])
    told = dict(zip(head, row, strict=False))
    assert told["TransactionState"] == "Ongoing"
    assert int(told["CoordinatorId"]) != first
    assert f"{replicated}-0" in described
    producer.commit_transaction(PATIENCE_S)
    read = nodes.read(
        replicated,
        count=11,
        timeout_s=PATIENCE_S,
        settings={"isolation.level": "read_committed"},
    )
    assert read[-1].value == b"committed"


def test_disks_hold_the_same_of_every_replica(
    nodes: ThreeNodes, tool: Tool, replicated: str
) -> None:
    nodes.wait_in_sync(timeout_s=PATIENCE_S)

    def sizes() -> list[int]:
        said = tool("kafka-log-dirs", "--describe", "--topic-list", replicated)
        brokers = json.loads(said.splitlines()[-1])["brokers"]
        return [
            each["size"]
            for broker in brokers
            for directory in broker["logDirs"]
            for each in directory["partitions"]
        ]

    def are_equal() -> bool:
        found = sizes()
        return len(found) == 3 and len(set(found)) == 1 and found[0] > 0

    wait_until(are_equal)
