"""Produce.

Every client writes records of every kind and reads them back.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from penstock.model.error import ErrorCode
from tests.conformance.clients.record import CODECS, BrokerError, Client, Record, numbered, read
from tests.conformance.conftest import CLIENTS

MEBIBYTE = 1_048_576
# Kafka's default for max.message.bytes: a mebibyte of records and room for the batch's overhead.
LARGEST_BATCH_BYTES = MEBIBYTE + 12
# What a batch of one large record without key and headers weighs beside the record's value.
BATCH_OVERHEAD_BYTES = 72

CLIENT_CODECS = [
    pytest.param(name, codec, marks=pytest.mark.feature(f"Compression: {codec}"))
    for codec in CODECS
    for name, kind in CLIENTS.items()
    if codec in kind.codecs
]


@pytest.mark.parametrize(("client", "codec"), CLIENT_CODECS, indirect=["client"])
def test_codec(client: Client, codec: str, topic: str) -> None:
    records = numbered(50)
    receipts = client.produce(topic, records, codec=codec)
    assert [receipt.offset for receipt in receipts] == list(range(50))
    assert [r.content() for r in read(client, topic, 50)] == [r.content() for r in records]


@pytest.mark.feature("Acknowledgements: acks=0, acks=1, acks=all")
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acks(client: Client, acks: str, topic: str) -> None:
    records = numbered(10)
    client.produce(topic, records, acks=acks)
    assert [r.content() for r in read(client, topic, 10)] == [r.content() for r in records]


@pytest.mark.feature("Idempotent producer")
def test_idempotence(client: Client, topic: str) -> None:
    records = numbered(2_000)
    receipts = client.produce(topic, records, idempotent=True)
    assert [receipt.offset for receipt in receipts] == list(range(2_000))
    found = read(client, topic, 2_000)
    assert [r.offset for r in found] == list(range(2_000))
    assert [r.content() for r in found] == [r.content() for r in records]


@pytest.mark.feature("Idempotent producers one after another on one partition")
def test_idempotent_producers_in_turn(client: Client, topic: str) -> None:
    for turn in range(3):
        receipts = client.produce(topic, numbered(5), idempotent=True)
        assert [r.offset for r in receipts] == list(range(turn * 5, turn * 5 + 5))


@pytest.mark.feature("Record headers: repeated names, empty values, unicode")
def test_headers(client: Client, topic: str) -> None:
    headers = (("a", b"1"), ("a", b"2"), ("empty", b""), ("größe", "日本".encode()))
    client.produce(topic, [Record(b"v", headers=headers)])
    assert read(client, topic, 1)[0].headers == headers


@pytest.mark.feature("Record headers without a value")
@pytest.mark.parametrize("client", ["confluent-kafka", "aiokafka"], indirect=True)
def test_null_header(client: Client, topic: str) -> None:
    client.produce(topic, [Record(b"v", headers=(("none", None), ("some", b"x")))])
    assert read(client, topic, 1)[0].headers == (("none", None), ("some", b"x"))


@pytest.mark.feature("Null and empty keys and values")
def test_null_and_empty(client: Client, topic: str) -> None:
    records = [
        Record(b"v", key=None),
        Record(None, key=b"k"),
        Record(b"", key=b""),
        Record(b"v", key=b""),
    ]
    client.produce(topic, records)
    assert [r.content() for r in read(client, topic, 4)] == [r.content() for r in records]


@pytest.mark.feature("Keys and values of any bytes")
def test_any_bytes(client: Client, topic: str) -> None:
    records = [
        Record("Übung 日本語 🚰".encode(), key="ключ".encode()),
        Record(bytes(range(256)), key=bytes(reversed(range(256)))),
    ]
    client.produce(topic, records)
    assert [r.content() for r in read(client, topic, 2)] == [r.content() for r in records]


@pytest.mark.feature("Timestamps given by the producer")
def test_explicit_timestamps(client: Client, topic: str) -> None:
    now = int(time.time() * 1000)
    times = [now, now - 3_600_000, 1_000, now - 5]
    receipts = client.produce(topic, [Record(b"v", timestamp=t) for t in times])
    if client.name != "aiokafka":  # which tells the first record's time for the whole batch
        assert [receipt.timestamp for receipt in receipts] == times
    found = read(client, topic, 4)
    assert [r.timestamp for r in found] == times
    assert not any(r.log_append_time for r in found)


@pytest.mark.feature("Timestamps of now when none is given")
def test_default_timestamp(client: Client, topic: str) -> None:
    before = int(time.time() * 1000)
    client.produce(topic, [Record(b"v")])
    found = read(client, topic, 1)[0].timestamp
    assert found is not None and before <= found <= int(time.time() * 1000)


@pytest.mark.feature("Explicit partitions")
def test_explicit_partitions(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(4)
    receipts = client.produce(topic, [Record(b"%d" % n, partition=n % 4) for n in range(12)])
    assert sorted((r.partition, r.offset) for r in receipts) == [
        (partition, offset) for partition in range(4) for offset in range(3)
    ]
    values = [r.value for r in read(client, topic, 3, partitions=[2])]
    assert values == [b"2", b"6", b"10"]


@pytest.mark.feature("Thousands of records in large batches")
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_many_records(client: Client, codec: str, topic: str) -> None:
    records = numbered(5_000)
    receipts = client.produce(topic, records, codec=codec)
    assert [receipt.offset for receipt in receipts] == list(range(5_000))
    found = read(client, topic, 5_000)
    assert [r.content() for r in found] == [r.content() for r in records]


@pytest.mark.feature("A batch of exactly max.message.bytes is taken")
def test_largest_batch(client: Client, topic: str) -> None:
    value = b"x" * (LARGEST_BATCH_BYTES - BATCH_OVERHEAD_BYTES)
    client.produce(topic, [Record(value)], largest_bytes=2 * MEBIBYTE)
    assert read(client, topic, 1)[0].value == value


@pytest.mark.feature("One byte more than max.message.bytes is refused (MESSAGE_TOO_LARGE)")
def test_oversized_batch(client: Client, topic: str) -> None:
    value = b"x" * (LARGEST_BATCH_BYTES - BATCH_OVERHEAD_BYTES + 1)
    with pytest.raises(BrokerError) as refused:
        client.produce(topic, [Record(value)], largest_bytes=2 * MEBIBYTE)
    assert refused.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert client.bounds(topic) == (0, 0)


@pytest.mark.feature("Records of 5 MB where the topic allows them")
def test_large_record(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(max_message_bytes=str(6 * MEBIBYTE))
    value = bytes(range(256)) * 20_000
    client.produce(topic, [Record(value), Record(b"next")], largest_bytes=6 * MEBIBYTE)
    assert [r.value for r in read(client, topic, 2)] == [value, b"next"]


@pytest.mark.feature("A missing topic is created by the first produce")
def test_auto_create(client: Client, topic_name: str) -> None:
    client.produce(topic_name, [Record(b"v", partition=-1)])
    found = [client.bounds(topic_name, partition) for partition in range(3)]
    assert sorted(found) == [(0, 0), (0, 0), (0, 1)]
