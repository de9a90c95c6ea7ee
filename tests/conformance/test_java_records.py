"""Kafka's command line tools: records and offsets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.record import Record, numbered, read
from tests.conformance.conftest import Cluster
from tools.tool_host import shared_tool_host

pytestmark = pytest.mark.java
Tool = Callable[..., str]
START_MS = 1_700_000_000_000


@pytest.fixture
def confluent(cluster: Cluster) -> ConfluentClient:
    return ConfluentClient(cluster.bootstrap_servers)


@pytest.mark.feature("Lines with keys and headers, compressed")
@pytest.mark.client("kafka-console-producer")
def test_console_producer(tool: Tool, confluent: ConfluentClient, topic: str) -> None:
    parsing = ["--reader-property", "parse.key=true", "--reader-property", "parse.headers=true"]
    lines = "h1:x,h2:y\tk1\tv1\nh1:z\tk2\tüñî\n"
    tool(
        "kafka-console-producer",
        "--topic",
        topic,
        *parsing,
        "--compression-codec",
        "zstd",
        stdin=lines,
    )
    assert [r.content() for r in read(confluent, topic, 2)] == [
        (b"k1", b"v1", (("h1", b"x"), ("h2", b"y"))),
        (b"k2", "üñî".encode(), (("h1", b"z"),)),
    ]


@pytest.mark.feature("With acks=0 and acks=1, snappy and lz4")
@pytest.mark.client("kafka-console-producer")
@pytest.mark.parametrize(("codec", "acks"), [("snappy", "0"), ("lz4", "1")])
def test_console_producer_codecs(
    tool: Tool, confluent: ConfluentClient, topic: str, codec: str, acks: str
) -> None:
    lines = "".join(f"line {n}\n" for n in range(200))
    options = ["--compression-codec", codec, "--request-required-acks", acks]
    tool("kafka-console-producer", "--topic", topic, *options, stdin=lines)
    assert [r.value for r in read(confluent, topic, 200)] == lines.encode().splitlines()


@pytest.mark.feature("--partition and --offset earliest, with keys, headers, times and offsets")
@pytest.mark.client("kafka-console-consumer")
def test_console_consumer(tool: Tool, confluent: ConfluentClient, topic: str) -> None:
    plain = Record(b"v1", key=b"k1", timestamp=START_MS)
    with_headers = Record(b"v2", timestamp=START_MS + 1, headers=(("h", b"x"),))
    confluent.produce(topic, [plain, with_headers], codec="lz4")
    shown = ["key", "headers", "offset", "timestamp", "partition"]
    printing = [word for name in shown for word in ("--formatter-property", f"print.{name}=true")]
    where = ["--topic", topic, "--partition", "0", "--offset", "earliest"]
    said = tool("kafka-console-consumer", *where, *printing, "--max-messages", "2")
    assert said.splitlines()[:2] == [
        f"CreateTime:{START_MS}\tPartition:0\tOffset:0\tNO_HEADERS\tk1\tv1",
        f"CreateTime:{START_MS + 1}\tPartition:0\tOffset:1\th:x\tnull\tv2",
    ]
    assert "Processed a total of 2 messages" in said


@pytest.mark.feature("--partition and a numbered offset, every codec")
@pytest.mark.client("kafka-console-consumer")
def test_console_consumer_from_offset(tool: Tool, confluent: ConfluentClient, topic: str) -> None:
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        confluent.produce(topic, [Record(f"{codec}-{n}".encode()) for n in range(3)], codec=codec)
    where = ["--topic", topic, "--partition", "0", "--offset", "2"]
    said = tool("kafka-console-consumer", *where, "--max-messages", "13")
    expected = ["none-2"] + [
        f"{codec}-{n}" for codec in ("gzip", "snappy", "lz4", "zstd") for n in range(3)
    ]
    assert said.splitlines()[:13] == expected


@pytest.mark.feature("Earliest, latest, newest time, local, by time, of a topic there is not")
@pytest.mark.client("kafka-get-offsets")
def test_get_offsets(
    tool: Tool, confluent: ConfluentClient, make_topic: Callable[..., str], topic_name: str
) -> None:
    topic = make_topic(2)
    times = [0, 5, 2, 3]
    confluent.produce(topic, [Record(b"v", timestamp=START_MS + shift) for shift in times])

    def offsets(*options: str) -> str:
        return tool("kafka-get-offsets", *options)

    assert offsets("--topic", topic) == f"{topic}:0:4\n{topic}:1:0\n"
    assert offsets("--topic-partitions", f"{topic}:0", "--time", "-2") == f"{topic}:0:0\n"
    # A partition without an answer is not printed.
    assert offsets("--topic", topic, "--time", "-3") == f"{topic}:0:1\n"
    assert offsets("--topic", topic, "--time", "-4") == f"{topic}:0:0\n{topic}:1:0\n"
    assert offsets("--topic", topic, "--time", str(START_MS + 1)) == f"{topic}:0:1\n"
    said = tool("kafka-get-offsets", "--topic", topic_name, fails=True)
    assert "Could not match any topic-partitions with the specified filters" in said


@pytest.mark.feature("To an offset, to the end, past the end")
@pytest.mark.client("kafka-delete-records")
def test_delete_records(
    tool: Tool, confluent: ConfluentClient, make_topic: Callable[..., str], tmp_path: Path
) -> None:
    topic = make_topic(3)
    confluent.produce(topic, [Record(b"v", partition=n % 3) for n in range(9)])
    wanted = {0: 2, 1: -1, 2: 4}
    partitions = [{"topic": topic, "partition": p, "offset": o} for p, o in wanted.items()]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"partitions": partitions, "version": 1}))
    said = tool("kafka-delete-records", "--offset-json-file", str(plan))
    assert f"partition: {topic}-0\tlow_watermark: 2" in said
    assert f"partition: {topic}-1\tlow_watermark: 3" in said
    refused = "OffsetOutOfRangeException: The requested offset is not within the range of offsets"
    assert re.search(rf"partition: {topic}-2\terror: .*{refused}", said)
    assert [confluent.bounds(topic, p) for p in range(3)] == [(2, 3), (3, 3), (0, 3)]


@pytest.mark.feature("Thousands of records")
@pytest.mark.client("kafka-producer-perf-test")
def test_producer_perf(tool: Tool, confluent: ConfluentClient, topic: str) -> None:
    size = ["--num-records", "20000", "--record-size", "100", "--throughput", "-1"]
    said = tool("kafka-producer-perf-test", "--topic", topic, *size)
    assert re.search(r"^20000 records sent, .* records/sec", said, re.MULTILINE)
    assert confluent.bounds(topic) == (0, 20_000)


@pytest.mark.feature("Active producers of a partition (describe-producers)")
@pytest.mark.client("kafka-transactions")
def test_describe_producers(tool: Tool, confluent: ConfluentClient, topic: str) -> None:
    confluent.produce(topic, numbered(3), idempotent=True)
    where = ["--topic", topic, "--partition", "0"]
    header, row = tool("kafka-transactions", "describe-producers", *where).splitlines()
    assert header.split()[:4] == [
        "ProducerId",
        "ProducerEpoch",
        "LatestCoordinatorEpoch",
        "LastSequence",
    ]
    assert row.split()[1:4] == ["0", "-1", "2"]


@pytest.mark.feature("Segments on disk: codecs as sent, and as compression.type asks")
@pytest.mark.client("kafka-dump-log")
def test_dump_log(
    cluster: Cluster, confluent: ConfluentClient, make_topic: Callable[..., str]
) -> None:
    # topic setting -> (what the producer sends, what lies on disk)
    cases: Mapping[str, tuple[str, str]] = {
        "producer": ("lz4", "lz4"),
        "uncompressed": ("gzip", "none"),
        "gzip": ("none", "gzip"),
        "snappy": ("lz4", "snappy"),
        "lz4": ("none", "lz4"),
        "zstd": ("gzip", "zstd"),
    }
    segments, expected = [], []
    for setting, (sent, stored) in cases.items():
        topic = make_topic(compression_type=setting)
        # One record is one batch; it shrinks, or librdkafka would send it as it is.
        record = Record(b"ab" * 1_000, key=b"k", headers=(("h", b"1"),))
        confluent.produce(topic, [record], codec=sent)
        assert read(confluent, topic, 1)[0].content() == record.content()
        segments.append(str(cluster.data_dir / f"{topic}-0" / f"{0:020}.log"))
        expected.append(stored)
    args = ["--deep-iteration", "--files", ",".join(segments)]
    done = shared_tool_host().run("kafka-dump-log", args)
    assert done.returncode == 0, done.stderr
    batches = re.findall(
        r"^baseOffset: .* compresscodec: (\w+) .* isvalid: (\w+)", done.stdout, re.M
    )
    assert batches == [(codec, "true") for codec in expected]
    assert "mismatch" not in done.stdout.lower()
