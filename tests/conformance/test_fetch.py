"""Fetch.

Every client reads from any place, waits for new records, and understands what others wrote.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.model.error import ErrorCode
from tests.conformance.clients.record import CODECS, BrokerError, Client, Record, numbered, read
from tests.conformance.conftest import CLIENTS, Cluster

CROSSINGS = [
    pytest.param(
        consumer,
        producer,
        codec,
        marks=pytest.mark.feature(f"Records of the other clients, compression {codec}"),
    )
    for codec in CODECS
    for consumer, reading in CLIENTS.items()
    for producer, writing in CLIENTS.items()
    if consumer != producer and codec in reading.codecs and codec in writing.codecs
]


@pytest.mark.parametrize(("client", "producer", "codec"), CROSSINGS, indirect=["client"])
def test_other_clients_records(
    client: Client, producer: str, codec: str, cluster: Cluster, topic: str
) -> None:
    records = numbered(20, headers=(("h", b"1"),), timestamp=1_700_000_000_000)
    CLIENTS[producer](cluster.bootstrap_servers).produce(topic, records, codec=codec)
    found = read(client, topic, 20)
    assert [r.content() for r in found] == [r.content() for r in records]
    assert {r.timestamp for r in found} == {1_700_000_000_000}


@pytest.mark.feature("From the beginning, the middle and the last record")
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_start_offsets(client: Client, codec: str, topic: str) -> None:
    # One batch, so that a start in the middle lies inside it.
    client.produce(topic, numbered(30), codec=codec)
    assert [r.offset for r in read(client, topic, 30)] == list(range(30))
    assert [r.offset for r in read(client, topic, 13, start=17)] == list(range(17, 30))
    assert [r.offset for r in read(client, topic, 1, start=29)] == [29]


@pytest.mark.feature("From the end: only what comes later")
def test_start_at_end(client: Client, topic: str) -> None:
    client.produce(topic, numbered(5))
    with client.open_reader(topic, start="end") as reader:
        assert reader.take(1, timeout=1.0) == []
        client.produce(topic, [Record(b"later")])
        assert [(r.offset, r.value) for r in reader.take(1)] == [(5, b"later")]


@pytest.mark.feature("At the end offset: waits and goes on")
def test_start_at_end_offset(client: Client, topic: str) -> None:
    client.produce(topic, numbered(5))
    with client.open_reader(topic, start=5) as reader:
        assert reader.take(1, timeout=1.0) == []
        client.produce(topic, [Record(b"later")])
        assert [r.offset for r in reader.take(1)] == [5]


@pytest.mark.feature("Offset out of range, reset to earliest")
def test_out_of_range_earliest(client: Client, topic: str) -> None:
    client.produce(topic, numbered(5))
    found = read(client, topic, 5, start=1_000, reset="earliest")
    assert [r.offset for r in found] == [0, 1, 2, 3, 4]


@pytest.mark.feature("Offset out of range, reset to latest")
def test_out_of_range_latest(client: Client, topic: str) -> None:
    client.produce(topic, numbered(5))
    with client.open_reader(topic, start=1_000, reset="latest") as reader:
        assert reader.take(1, timeout=1.5) == []
        client.produce(topic, [Record(b"later")])
        assert [r.offset for r in reader.take(1)] == [5]


@pytest.mark.feature("Offset out of range without reset is an error (OFFSET_OUT_OF_RANGE)")
def test_out_of_range_error(client: Client, topic: str) -> None:
    client.produce(topic, numbered(5))
    with pytest.raises(BrokerError) as refused:
        read(client, topic, 1, start=1_000, reset="none")
    # librdkafka wraps it in an error of its own kind, with a negative code.
    if client.name != "confluent-kafka":
        assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    else:
        assert "out of range" in str(refused.value)


@pytest.mark.feature("Seek forth and back")
def test_seek(client: Client, topic: str) -> None:
    client.produce(topic, numbered(20))
    with client.open_reader(topic) as reader:
        assert reader.take(1)[0].offset == 0
        for offset in (15, 3, 19, 0):
            reader.seek(offset)
            assert reader.take(1)[0].offset == offset


@pytest.mark.feature("First and end offsets")
def test_bounds(client: Client, topic: str) -> None:
    assert client.bounds(topic) == (0, 0)
    client.produce(topic, numbered(7))
    assert client.bounds(topic) == (0, 7)


@pytest.mark.feature("Offsets by timestamp")
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_offsets_by_timestamp(client: Client, codec: str, topic: str) -> None:
    start = 1_700_000_000_000
    client.produce(
        topic, [Record(b"v", timestamp=start + 1_000 * n) for n in range(10)], codec=codec
    )
    assert client.offset_at(topic, 0) == 0
    assert client.offset_at(topic, start) == 0
    assert client.offset_at(topic, start + 4_000) == 4
    assert client.offset_at(topic, start + 4_001) == 5
    assert client.offset_at(topic, start + 9_000) == 9
    assert client.offset_at(topic, start + 9_001) is None


@pytest.mark.feature("Offsets by timestamp when times are not in order")
def test_offsets_by_unordered_timestamp(client: Client, topic: str) -> None:
    start = 1_700_000_000_000
    for shift in (5, 1, 9, 3):
        client.produce(topic, [Record(b"v", timestamp=start + shift)])
    found = [client.offset_at(topic, start + shift) for shift in (0, 2, 6, 9, 10)]
    assert found == [0, 0, 2, 2, None]


@pytest.mark.feature("Several partitions at once, each in order")
def test_several_partitions(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(5)
    client.produce(topic, [Record(b"%d" % n, partition=n % 5) for n in range(100)])
    with client.open_reader(topic, partitions=range(5)) as reader:
        found = reader.take(100)
    for partition in range(5):
        offsets = [r.offset for r in found if r.partition == partition]
        assert offsets == list(range(20))


@pytest.mark.feature("A poll gives no more than asked for")
def test_poll_limit(client: Client, topic: str) -> None:
    client.produce(topic, numbered(50))
    seen: list[int | None] = []
    deadline = time.monotonic() + 40
    with client.open_reader(topic) as reader:
        while len(seen) < 50 and time.monotonic() < deadline:
            page = reader.poll_once(7)
            assert len(page) <= 7
            seen += [r.offset for r in page]
    assert seen == list(range(50))


@pytest.mark.feature("Batches larger than the fetch limit still arrive")
def test_small_fetch_limit(client: Client, topic: str) -> None:
    for n in range(4):
        client.produce(topic, [Record(b"%d" % n * 20_000)])
    found = read(client, topic, 4, fetch_bytes=1_000)
    assert [r.value for r in found] == [b"%d" % n * 20_000 for n in range(4)]


@pytest.mark.feature("A waiting fetch answers as soon as a record comes")
def test_long_poll(client: Client, topic: str) -> None:
    client.produce(topic, [Record(b"warm")])
    sent: list[float] = []

    def send_later() -> None:
        time.sleep(1.0)
        client.produce(topic, [Record(b"wake")])
        sent.append(time.monotonic())

    with client.open_reader(topic, wait_ms=20_000) as reader:
        assert reader.take(1)[0].value == b"warm"
        sender = threading.Thread(target=send_later)
        sender.start()
        woken = reader.take(1)
        arrived = time.monotonic()
        sender.join()
    assert [r.value for r in woken] == [b"wake"]
    # The fetch was allowed to wait for twenty seconds.
    assert arrived - sent[0] < 5.0


@pytest.mark.feature("read_committed reads plain records")
def test_read_committed(client: Client, topic: str) -> None:
    client.produce(topic, numbered(10))
    found = read(client, topic, 10, committed_only=True)
    assert [r.offset for r in found] == list(range(10))


@pytest.mark.feature("Deleted records are not served; the first offset moves")
def test_after_delete_records(client: Client, admin: AdminClient, topic: str) -> None:
    client.produce(topic, numbered(10))
    admin.delete_records([TopicPartition(topic, 0, 6)])[TopicPartition(topic, 0)].result(30)
    assert client.bounds(topic) == (6, 10)
    assert [r.offset for r in read(client, topic, 4)] == [6, 7, 8, 9]
    found = read(client, topic, 4, start=2, reset="earliest")
    assert [r.offset for r in found] == [6, 7, 8, 9]
