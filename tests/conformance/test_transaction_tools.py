"""Kafka's command line tools: transactions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from penstock.model.error import ErrorCode
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.record import PATIENCE_SECONDS, Record, read
from tests.conformance.clients.routed_wire import RoutedWire
from tests.conformance.clients.transaction_wire import (
    OLD,
    PRODUCE_VERSIONS,
    RawProducer,
    fetch_committed,
    settled,
)
from tests.conformance.conftest import Cluster
from tests.node.wire_kit import Wire
from tests.patience import wait_until

pytestmark = pytest.mark.java
Tool = Callable[..., str]
VERIFICATION = "transaction.partition.verification.enable"


@pytest.fixture
def confluent(cluster: Cluster) -> ConfluentClient:
    return ConfluentClient(cluster.bootstrap_servers)


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    with RoutedWire(cluster.bootstrap_servers) as wire:
        yield wire


def rows(said: str) -> list[dict[str, str]]:
    """A table as the tool prints it, column by column."""
    head, *lines = [re.split(r"\s*\t\s*", line.strip()) for line in said.splitlines() if line]
    return [dict(zip(head, line, strict=False)) for line in lines]


def open_transaction(wire: Wire, topic: str) -> RawProducer:
    producer = RawProducer.start(wire, topic)
    assert settled(lambda: producer.send(topic, b"a", b"b")) == ErrorCode.NONE
    return producer


@pytest.mark.feature("--transactional-id, --transaction-duration-ms: many transactions")
@pytest.mark.client("kafka-producer-perf-test")
def test_perf(tool: Tool, confluent: ConfluentClient, topic: str) -> None:
    size = ["--num-records", "3000", "--record-size", "100", "--throughput", "3000"]
    how = ["--transactional-id", topic, "--transaction-duration-ms", "50"]
    said = tool("kafka-producer-perf-test", "--topic", topic, *size, *how)
    assert re.search(r"^3000 records sent, .* records/sec", said, re.MULTILINE)
    assert len(read(confluent, topic, 3000, committed_only=True)) == 3000
    markers = confluent.bounds(topic)[1] - 3000
    assert markers > 1


@pytest.mark.feature("--isolation-level read_committed and read_uncommitted")
@pytest.mark.client("kafka-console-consumer")
def test_console_consumer(tool: Tool, wire: Wire, confluent: ConfluentClient, topic: str) -> None:
    aborted = open_transaction(wire, topic)
    assert settled(lambda: aborted.end(False)).error_code == ErrorCode.NONE
    confluent.produce(topic, [Record(b"plain")])
    where = ["--topic", topic, "--partition", "0", "--offset", "earliest"]
    level = ["--isolation-level", "read_committed", "--max-messages", "1"]
    assert tool("kafka-console-consumer", *where, *level).splitlines()[0] == "plain"
    level = ["--isolation-level", "read_uncommitted", "--max-messages", "3"]
    said = tool("kafka-console-consumer", *where, *level)
    assert said.splitlines()[:3] == ["a", "b", "plain"]


@pytest.mark.feature("list, with its filters, and describe")
@pytest.mark.client("kafka-transactions")
def test_list_and_describe(tool: Tool, wire: Wire, topic: str) -> None:
    producer = open_transaction(wire, topic)
    idle = RawProducer.start(wire, topic + "-idle")
    listed = {row["TransactionalId"]: row for row in rows(tool("kafka-transactions", "list"))}
    assert listed[topic]["ProducerId"] == str(producer.producer_id)
    assert listed[topic]["TransactionState"] == "Ongoing"
    assert listed[idle.transactional_id]["TransactionState"] == "Empty"
    pattern = ["--transactional-id-pattern", f"{topic}-id.e"]
    found = rows(tool("kafka-transactions", "list", *pattern))
    assert [row["TransactionalId"] for row in found] == [topic + "-idle"]
    (one,) = rows(tool("kafka-transactions", "describe", "--transactional-id", topic))
    assert one["ProducerEpoch"] == str(producer.epoch)
    assert one["TransactionState"] == "Ongoing"
    assert one["TransactionTimeoutMs"] == "60000"
    assert one["TopicPartitions"] == f"{topic}-0"
    producer.commit()
    said = tool("kafka-transactions", "describe", "--transactional-id", topic + "-x", fails=True)
    assert "failed because the ID could not be found" in said


@pytest.mark.feature("describe-producers of an open transaction, forceTerminateTransaction")
@pytest.mark.client("kafka-transactions")
def test_terminate(tool: Tool, wire: Wire, topic: str) -> None:
    producer = open_transaction(wire, topic)
    where = ["--topic", topic, "--partition", "0"]
    (row,) = rows(tool("kafka-transactions", "describe-producers", *where))
    assert row["ProducerId"] == str(producer.producer_id)
    assert row["CurrentTransactionStartOffset"] == "0"
    assert row["LastSequence"] == "1"
    tool("kafka-transactions", "forceTerminateTransaction", "--transactionalId", topic)
    wait_until(lambda: fetch_committed(wire, topic).last_stable_offset == 3)
    assert len(fetch_committed(wire, topic).aborted_transactions) == 1
    assert producer.send(topic, b"late", sequence=2) == ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.feature("--under-min-isr-partitions: none of the transactions' topic")
@pytest.mark.client("kafka-topics")
def test_under_min_isr(tool: Tool, wire: Wire, topic: str) -> None:
    open_transaction(wire, topic).commit()
    where = ["--describe", "--topic", "__transaction_state"]
    assert "Partition: 0\t" in tool("kafka-topics", *where)
    assert tool("kafka-topics", *where, "--under-min-isr-partitions").strip() == ""


@pytest.fixture
def unverified(cluster: Cluster, admin: AdminClient) -> Iterator[None]:
    """Whoever writes without adding the partition is not stopped, as before Kafka 3.6."""

    def alter(operation: AlterConfigOpType, value: str) -> None:
        entry = ConfigEntry(VERIFICATION, value, incremental_operation=operation)
        for each in cluster.broker_ids:
            resource = ConfigResource(ResourceType.BROKER, str(each), incremental_configs=[entry])
            admin.incremental_alter_configs([resource])[resource].result(PATIENCE_SECONDS)

    alter(AlterConfigOpType.SET, "false")
    yield
    alter(AlterConfigOpType.DELETE, "")


@pytest.mark.feature("find-hanging, and abort of a transaction that its coordinator does not know")
@pytest.mark.client("kafka-transactions")
def test_hanging(tool: Tool, cluster: Cluster, wire: Wire, topic: str, unverified: None) -> None:
    producer = RawProducer.start(wire, topic)
    version = PRODUCE_VERSIONS[OLD]

    def hangs() -> bool:
        return producer.send(topic, b"a", version=version) == ErrorCode.NONE

    wait_until(hangs)
    found = []
    for each in cluster.broker_ids:
        search = ["--broker-id", str(each), "--max-transaction-timeout", "0"]
        found += rows(tool("kafka-transactions", "find-hanging", *search, "--topic", topic))
    # Every replica knows of it.
    hanging = [(row["Topic"], row["ProducerId"]) for row in found]
    assert hanging == [(topic, str(producer.producer_id))] * len(cluster.broker_ids)
    where = ["--topic", topic, "--partition", "0"]
    tool("kafka-transactions", "abort", *where, "--start-offset", "0")
    wait_until(lambda: fetch_committed(wire, topic).last_stable_offset == 2)
    assert len(fetch_committed(wire, topic).aborted_transactions) == 1
