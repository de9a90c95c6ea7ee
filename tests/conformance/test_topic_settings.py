"""Topic settings at work."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from penstock.model.error import ErrorCode
from tests.conformance.clients.record import BrokerError, Client, Record, numbered, read
from tests.conformance.conftest import CLIENTS

TOPIC_CODECS = [
    pytest.param(name, setting, marks=pytest.mark.feature(f"compression.type={setting}"))
    for setting in ("uncompressed", "gzip", "snappy", "lz4", "zstd")
    for name, kind in CLIENTS.items()
    if setting in (*kind.codecs, "uncompressed")
]
HOUR_MS = 3_600_000


def refused_code(client: Client, topic: str, records: list[Record], **options: str) -> int | None:
    with pytest.raises(BrokerError) as refused:
        client.produce(topic, records, **options)  # type: ignore[arg-type]
    return refused.value.code


@pytest.mark.feature("message.timestamp.type=LogAppendTime: the broker's clock, told to both sides")
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_log_append_time(client: Client, codec: str, make_topic: Callable[..., str]) -> None:
    topic = make_topic(message_timestamp_type="LogAppendTime")
    before = int(time.time() * 1000)
    receipts = client.produce(topic, [Record(b"v", timestamp=1_000)] * 3, codec=codec)
    after = int(time.time() * 1000)
    found = read(client, topic, 3)
    for record in found:
        assert record.log_append_time
        assert record.timestamp is not None and before <= record.timestamp <= after
    assert {r.timestamp for r in receipts} == {r.timestamp for r in found}
    assert client.offset_at(topic, before) == 0


@pytest.mark.parametrize(("client", "setting"), TOPIC_CODECS, indirect=["client"])
def test_topic_compression(client: Client, setting: str, make_topic: Callable[..., str]) -> None:
    topic = make_topic(compression_type=setting)
    records = numbered(40, headers=(("h", b"1"),), timestamp=1_700_000_000_000)
    for codec in client.codecs:
        client.produce(topic, records, codec=codec)
    found = read(client, topic, 40 * len(client.codecs))
    assert [r.content() for r in found] == [r.content() for r in records] * len(client.codecs)
    assert {r.timestamp for r in found} == {1_700_000_000_000}


@pytest.mark.feature("max.message.bytes of a topic (MESSAGE_TOO_LARGE)")
def test_max_message_bytes(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(max_message_bytes="1000")
    client.produce(topic, [Record(b"x" * 900)])
    code = refused_code(client, topic, [Record(b"x" * 1_000)])
    assert code == ErrorCode.MESSAGE_TOO_LARGE
    assert client.bounds(topic) == (0, 1)


@pytest.mark.feature("A time more than an hour ahead (INVALID_TIMESTAMP)")
def test_future_timestamp(client: Client, topic: str) -> None:
    now = int(time.time() * 1000)
    client.produce(topic, [Record(b"v", timestamp=now + HOUR_MS - 60_000)])
    code = refused_code(client, topic, [Record(b"v", timestamp=now + HOUR_MS + 600_000)])
    assert code == ErrorCode.INVALID_TIMESTAMP
    assert client.bounds(topic) == (0, 1)


@pytest.mark.feature("message.timestamp.before.max.ms (INVALID_TIMESTAMP)")
def test_past_timestamp(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(message_timestamp_before_max_ms=str(HOUR_MS))
    now = int(time.time() * 1000)
    client.produce(topic, [Record(b"v", timestamp=now - HOUR_MS + 600_000)])
    code = refused_code(client, topic, [Record(b"v", timestamp=now - HOUR_MS - 60_000)])
    assert code == ErrorCode.INVALID_TIMESTAMP


@pytest.mark.feature("A compacted topic refuses records without a key (INVALID_RECORD)")
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_compacted_without_key(client: Client, codec: str, make_topic: Callable[..., str]) -> None:
    topic = make_topic(cleanup_policy="compact")
    code = refused_code(client, topic, [Record(b"v")], codec=codec)
    # aiokafka does not know this error's number.
    assert code == (-1 if client.name == "aiokafka" else ErrorCode.INVALID_RECORD)
    # One bad record spoils its batch; the linger makes sure that it is one batch.
    mixed = [Record(b"v", key=b"k"), Record(b"v")]
    with pytest.raises(BrokerError):
        client.produce(topic, mixed, codec=codec, linger_ms=1_000)
    assert client.bounds(topic) == (0, 0)


@pytest.mark.feature("A compacted topic takes keys and tombstones")
def test_compacted(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(cleanup_policy="compact")
    records = [Record(b"1", key=b"a"), Record(b"2", key=b""), Record(None, key=b"a")]
    client.produce(topic, records)
    assert [r.content() for r in read(client, topic, 3)] == [r.content() for r in records]


@pytest.mark.feature("min.insync.replicas above the number of replicas does not stop acks=all")
def test_min_insync_replicas(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(min_insync_replicas="2")
    assert client.produce(topic, [Record(b"v")])[0].offset == 0


@pytest.mark.feature("Segments roll by segment.bytes; reading goes across them")
def test_small_segments(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(segment_bytes=str(1_048_576))
    values = [b"%d" % n * 300_000 for n in range(8)]
    for value in values:
        client.produce(topic, [Record(value)])
    assert [r.value for r in read(client, topic, 8)] == values
    assert [r.offset for r in read(client, topic, 3, start=5)] == [5, 6, 7]
