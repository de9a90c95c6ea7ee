"""`penstock sql`: records of topics, and tables of the live cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure
from penstock.cli.leader_call import fetch, leaders_of
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.cli.query import scan
from penstock.cli.query.bound import TIME, Bounds, ScanFilter
from penstock.cli.query.engine import SqlEngine
from penstock.cli.query.topic import plan_ranges
from penstock.cli.wire_call import BrokerConnection
from penstock.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from penstock.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.unit.cli.conftest import Command

START_MS = 1_700_000_000_000
PENSTOCK_ALONE = pytest.mark.parametrize("command", ["penstock"], indirect=True)


def fill(command: Command, topic: str, count: int, **settings: str) -> None:
    """A record a second, odd ones from CH, all in partition 0."""
    producer = Producer({"bootstrap.servers": command.servers} | settings)
    if "transactional.id" in settings:
        producer.init_transactions(30)
        producer.begin_transaction()
    for index in range(count):
        value = json.dumps({"id": index, "country": "CH" if index % 2 else "DE", "deep": {"x": 1}})
        time_ms = START_MS + index * 1000
        producer.produce(topic, value, f"k{index}", partition=0, timestamp=time_ms)
    if "transactional.id" in settings:
        producer.flush()
        producer.abort_transaction(30)
    assert producer.flush(30) == 0


def test_records_by_key_time_and_field(command: Command, topic: str) -> None:
    name = f"{topic}.v1"
    command.run("topics", "create", name, "-p", "2", "-s", "retention.ms=-1")
    fill(command, name, 50, **{"compression.type": "lz4"})
    fill(command, name, 50, **{"transactional.id": topic})
    command.run("produce", name, "-p", "1", "-k", "ff", "--key-format", "hex", "-v", "no json")

    def ask(select: str) -> list[dict[str, object]]:
        lines = command.run("sql", "--json", select.replace("TOPIC", f'"{name}"')).lines
        return [json.loads(line) for line in lines]

    assert ask("SELECT count(*) AS n, count(key) AS keys, max(partition) AS p FROM TOPIC") == [
        {"n": 51, "keys": 50, "p": 1}
    ]
    found = ask(
        "SELECT \"offset\", key, timestamp, value->>'$.deep.x' AS x FROM TOPIC "
        "WHERE timestamp BETWEEN '2023-11-14 22:13:30Z' AND '2023-11-14 22:13:40Z' "
        "AND value->>'$.country' = 'CH' ORDER BY \"offset\" LIMIT 2"
    )
    assert found == [
        {"offset": 11, "key": "k11", "timestamp": "2023-11-14T22:13:31.000Z", "x": "1"},
        {"offset": 13, "key": "k13", "timestamp": "2023-11-14T22:13:33.000Z", "x": "1"},
    ]
    assert ask("SELECT \"offset\" FROM TOPIC WHERE key = 'k7'") == [{"offset": 7}]
    assert ask("SELECT hex(key_bytes) AS k, value FROM TOPIC WHERE key IS NULL") == [
        {"k": "FF", "value": "no json"}
    ]
    command.run("topics", "delete", name)


def test_tables_of_the_live_cluster(command: Command, topic: str, tmp_path: Path) -> None:
    """The same as a catalog that is kept."""
    command.run("topics", "create", topic, "-p", "2", "-s", "retention.ms=60000")
    fill(command, topic, 3)
    own = {"bootstrap.servers": command.servers, "group.id": topic}
    consumer = Consumer(own)
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    consumer.close()
    lags = (
        "SELECT partition, end_offset, lag, lag_seconds > 0 AS late FROM PartitionLag "
        f"WHERE topic = '{topic}'"
    )
    assert command.run("sql", "--format", "csv", lags).lines == [
        "partition,end_offset,lag,late",
        "0,3,2,True",
    ]
    places = f"SELECT * FROM PartitionAssignment WHERE topic = '{topic}'"
    assert json.loads(command.run("sql", "--json", places).out) == {
        "group_id": topic,
        "topic": topic,
        "partition": 0,
        "consumer_id": None,
        "offset": 1,
    }
    command.run("sla", "set", topic, "30s", "--group")
    limits = f"SELECT kind, lag_seconds_max FROM Sla WHERE name = '{topic}'"
    assert command.run("sql", limits).lines[1].split() == ["group", "30.0"]
    joined = (
        "SELECT t.partition_count, t.retention_ms, count(*) AS replicas FROM Topic t "
        f"JOIN replica r ON r.topic = t.name WHERE t.name = '{topic}' GROUP BY ALL"
    )
    assert command.run("sql", joined).lines[1].split() == ["2", "60000", "2"]


@PENSTOCK_ALONE
def test_what_is_not_asked_for_is_not_read(
    command: Command, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.run("topics", "create", topic, "-p", "1")
    for _ in range(40):
        fill(command, topic, 100)
    cluster = Cluster(Target(command.servers))

    def read(statement: str) -> tuple[int, int]:
        """How many rows came, and how many records were read for them."""
        with SqlEngine(cluster, late_ms=0) as engine:
            rows = sum(len(part) for part in engine.ask(statement).rows)
            return rows, engine.topics[topic].records_read

    table = f'SELECT partition FROM "{topic}"'
    assert read(table) == (4000, 4000)
    assert read(f'{table} WHERE "offset" >= 1000 AND "offset" < 1010') == (10, 10)
    assert read(f"{table} WHERE partition = 1") == (0, 0)
    assert read(f"{table} WHERE timestamp < '2001-01-01 00:00:00Z'") == (0, 0)
    # One fetch holds a batch or two, and the queue a few of them.
    monkeypatch.setattr(scan, "_FIRST_BYTES", 1000)
    monkeypatch.setattr(scan, "_BYTES_MAX", 1000)
    rows, records = read(f"{table} LIMIT 5")
    assert rows == 5
    assert records < 4000


def test_a_client_over_its_quota_asks_again_when_it_may() -> None:
    here = PartitionData(partition_index=0, high_watermark=5)
    answered = FetchableTopicResponse(topic="orders", partitions=[here])
    answers = [FetchResponse(throttle_time_ms=1500), FetchResponse(responses=[answered])]
    waits: list[float] = []

    class Connection:
        def call(self, *_: object) -> FetchResponse:
            return answers.pop(0)

    connection = cast("BrokerConnection", Connection())
    asked = {("orders", 0): 0}
    found = fetch(connection, asked, bytes_max=1, partition_bytes_max=1, pause=waits.append)
    assert (found, waits) == ({("orders", 0): here}, [1.5])
    answers.append(FetchResponse(throttle_time_ms=1500))
    assert not fetch(connection, asked, bytes_max=1, partition_bytes_max=1, pause=lambda _: True)


def test_a_partition_that_cannot_be_read_is_not_left_out() -> None:
    partitions = [MetadataResponsePartition(partition_index=3, leader_id=-1)]
    described = MetadataResponseTopic(name="orders", partitions=partitions)
    leaders = leaders_of(MetadataResponse(topics=[described]))
    link = Link(Cluster(Target("127.0.0.1:1")))
    with pytest.raises(Failure, match="orders-3 has no leader"):
        plan_ranges(link, leaders, "orders", ScanFilter(None), 0, frozenset())
    other = ScanFilter(pc.field("partition") == pa.scalar(1, pa.int32()))
    assert plan_ranges(link, leaders, "orders", other, 0, frozenset()) == []


def test_bounds_of_filters() -> None:
    offset, partition = pc.field("offset"), pc.field("partition")
    asked = ScanFilter((offset >= 10) & (offset < 20) & (partition == pa.scalar(1, pa.int32())))
    assert asked.offsets(1, 0, 100) == (10, 20)
    assert asked.offsets(1, 15, 17) == (15, 17)
    assert asked.offsets(1, 50, 100) == (50, 50)
    assert asked.has_partition(1)
    assert not asked.has_partition(0)
    assert ScanFilter((offset == 7) | (offset == 9)).offsets(0, 0, 100) == (7, 10)
    assert ScanFilter(None).offsets(0, 3, 5) == (3, 5)
    time = pc.field("timestamp")
    asked = ScanFilter((time > pa.scalar(1000, TIME)) & (time <= pa.scalar(2000, TIME)))
    assert asked.times_us() == Bounds(1000, 2001)
    assert ScanFilter(pc.field("key") == "x").times_us() == Bounds(None, None)
    here = (time >= pa.scalar(1500, TIME)) & (time <= pa.scalar(1600, TIME))
    assert asked.always_holds(here)
    assert not asked.always_holds(time >= pa.scalar(1500, TIME))


@PENSTOCK_ALONE
def test_faults_of_statements(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, "-v", "no number")
    table = f'FROM "{topic}"'
    for statement, said, code in (
        (f"SELEC 1 {table}", 'SQL: syntax error at or near "SELEC"', 2),
        (f"SELECT x {table}", 'SQL: Binder Error: Referenced column "x" not found', 2),
        (f"SELECT value->>'$.x' {table}", "SQL: Invalid Input Error: Malformed JSON at byte 0", 2),
        (f"SELECT value::int {table}", "SQL: Conversion Error: Could not convert string 'no n", 1),
        ("SELECT 1 FROM topik", "SQL: there is no table or topic topik; did you mean Topic?", 2),
        ("SELECT 1 FROM a.b", 'SQL: a name with a dot goes in double quotes: "a.b"', 2),
        ("DROP TABLE x", "SQL: only SELECT is answered", 2),
        ("SELECT 1; SELECT 2", "SQL: one statement at a time", 2),
        ("SELECT * FROM read_csv('/etc/passwd')", "SQL: Permission Error: Cannot access file", 1),
    ):
        assert command.fail("sql", statement, code=code).startswith(said)


@PENSTOCK_ALONE
def test_topics_that_differ_in_case_alone(command: Command, topic: str) -> None:
    low, high = topic, topic.upper()
    for name, value in ((low, "quiet"), (high, "loud")):
        command.run("topics", "create", name, "-p", "1")
        command.run("produce", name, "-k", "a", "-v", value)
    asked = (
        f'SELECT a.value || \' \' || b.value AS both FROM "{high}" a JOIN "{low}" b USING (key) '
        f'WHERE a.key IN (SELECT "{low}".key FROM "{low}") '
        f'AND EXISTS (SELECT 1 FROM "{high}" WHERE "{high}".value = \'loud\')'
    )
    assert json.loads(command.run("sql", "--json", asked).out) == {"both": "loud quiet"}
    union = f'SELECT value FROM "{low}" UNION ALL SELECT "{high}".value FROM "{high}"'
    lines = command.run("sql", "--json", union).lines
    assert sorted(json.loads(line)["value"] for line in lines) == ["loud", "quiet"]


@PENSTOCK_ALONE
def test_topics_that_are_called_like_a_table(command: Command) -> None:
    for name in ("Topic", "broker", "topics.dotted"):
        command.run("topics", "create", name, "-p", "1")
        command.run("produce", name, "-k", "Topic", "-v", f"of {name}")

    def ask(select: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in command.run("sql", "--json", select).lines]

    assert ask('SELECT value FROM topics."Topic"') == [{"value": "of Topic"}]
    assert ask("SELECT topics.broker.value FROM Topics.broker") == [{"value": "of broker"}]
    assert ask('SELECT value FROM "topics.dotted"') == [{"value": "of topics.dotted"}]
    both = 'SELECT r.value, t.name FROM Topic t JOIN topics."Topic" r ON r.key = t.name'
    assert ask(both) == [{"value": "of Topic", "name": "Topic"}]
    assert ask("SELECT count(*) > 0 AS some FROM Broker") == [{"some": True}]
    mixed = 'SELECT a.value FROM "topics.dotted" a JOIN topics."topics.dotted" b USING (key)'
    assert ask(mixed) == [{"value": "of topics.dotted"}]
    shown = command.run("sql", "SHOW TABLES").lines
    assert {'topics."Topic"', 'topics."broker"', "topics.dotted", "Topic"} <= set(shown)
    said = command.fail("sql", "SELECT value FROM Topic", code=2)
    assert said.strip().endswith('to read the topic of that name write topics."Topic"')
    said = command.fail("sql", "SELECT 1 FROM topics.dotted", code=2)
    assert said.strip() == 'SQL: there is no topic dotted; did you mean "topics.dotted"?'
    for name in ("Topic", "broker", "topics.dotted"):
        command.run("topics", "delete", name)


@PENSTOCK_ALONE
def test_forms_of_rows(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    assert topic in command.run("sql", "SHOW TABLES").lines
    assert "PartitionLag" in command.run("sql", "SHOW TABLES").lines
    (row,) = command.run(
        "sql",
        "--json",
        "SELECT 1 AS a, 2 AS a, 'nan'::double AS n, [1.5, 'inf'::double] AS l, 'ü' AS t, "
        "MAP {DATE '2026-01-02': 'x'::BLOB} AS m, {'at': TIMESTAMPTZ '2026-01-02 03:04:05Z'} AS s",
    ).lines
    assert json.loads(row, parse_constant=pytest.fail) == {
        "a": 1,
        "a_1": 2,
        "n": None,
        "l": [1.5, None],
        "t": "ü",
        "m": {"2026-01-02": "78"},
        "s": {"at": "2026-01-02T03:04:05.000Z"},
    }
    (_, row) = command.run("sql", "SELECT chr(27) || 'a' || chr(10) || 'bü' AS t").lines
    assert row == "\\x1ba\\nbü"


def test_no_cluster_to_ask(nowhere: Command) -> None:
    assert nowhere.fail("sql", "SELECT * FROM Topic").startswith("no broker answers at 127.0.0.1:1")
