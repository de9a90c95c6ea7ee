"""Batches that nobody could read, and small ones that unfold into very much.

What Apache Kafka answers is written down beside our answer where they differ: it says
UNKNOWN_SERVER_ERROR when an exception that nobody expected came up, and takes some batches that no
consumer can read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.records.compression import CODEC_NAMES, GZIP, LZ4, SNAPPY, ZSTD, compress
from penstock.records.walk import COMPILED
from tests.batch_kit import (
    NOW_MS,
    good_body,
    gzip_zeros_batch,
    many_records,
    packed,
    raw_batch,
    raw_record,
    zeros_batch,
)
from tests.hostile.target import Target
from tests.node.wire_kit import Wire, produce, produced

pytestmark = pytest.mark.penstock(settings={"penstock.record.check": "always"})

VERSION = 11
TOPIC = "t"

OK = "NONE"
INVALID = "INVALID_RECORD"
TIME = "INVALID_TIMESTAMP"
CORRUPT = "CORRUPT_MESSAGE"
UNEXPECTED = "UNKNOWN_SERVER_ERROR"
NO_CODEC = "UNSUPPORTED_COMPRESSION_TYPE"

BODY = good_body()
LONG_NUMBER = b"\x82\x80\x80\x80\x80\x00"

Case = tuple[str, bytes, str, str]
"""What it is, the batch, our answer and Kafka's."""

OF_THE_HEADER: list[Case] = [
    ("a good batch", raw_batch(BODY, 3), OK, OK),
    ("no body", raw_batch(b""), INVALID, INVALID),
    ("no records", raw_batch(b"", 0), INVALID, INVALID),
    ("2^31-1 records in ten bytes", raw_batch(raw_record(), 2**31 - 1), INVALID, INVALID),
    ("a negative count", raw_batch(BODY, 3, record_count=-1), INVALID, INVALID),
    ("a last offset unlike the count", raw_batch(BODY, 3, last_offset_delta=5), INVALID, INVALID),
    ("a negative last offset", raw_batch(BODY, 3, last_offset_delta=-1), INVALID, INVALID),
    *((f"codec {one}", raw_batch(BODY, 3, attributes=one), NO_CODEC, UNEXPECTED) for one in (5, 7)),
    ("a control batch", raw_batch(BODY, 3, attributes=0x20), INVALID, INVALID),
    (
        "a transaction without an id",
        raw_batch(BODY, 3, attributes=0x10),
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    ),
    ("a producer without a sequence", raw_batch(BODY, 3, producer_id=5), INVALID, INVALID),
    (
        "a producer with epoch -1",
        raw_batch(BODY, 3, producer_id=6, base_sequence=0),
        OK,
        OK,
    ),
    (
        "a producer with epoch -5",
        raw_batch(BODY, 3, producer_id=7, base_sequence=0, producer_epoch=-5),
        "INVALID_PRODUCER_EPOCH",
        "INVALID_PRODUCER_EPOCH",
    ),
    ("offsets that begin at 77", raw_batch(BODY, 3, base_offset=77), INVALID, INVALID),
    ("any leader epoch", raw_batch(BODY, 3, partition_leader_epoch=12345), OK, OK),
    ("unused attributes", raw_batch(BODY, 3, attributes=0x7F00), OK, OK),
    ("magic 0", raw_batch(BODY, 3, magic=0), INVALID, INVALID),
    ("magic 1", raw_batch(BODY, 3, magic=1), INVALID, INVALID),
    ("magic 3", raw_batch(BODY, 3, magic=3), CORRUPT, CORRUPT),
    ("two batches", raw_batch(BODY, 3) * 2, INVALID, INVALID),
    ("a batch and half of another", raw_batch(BODY, 3) + raw_batch(BODY, 3)[:70], INVALID, OK),
    ("a length beyond the request", raw_batch(BODY, 3, batch_length=5000), INVALID, INVALID),
    ("a length within the header", raw_batch(BODY, 3, batch_length=40), CORRUPT, CORRUPT),
    ("a negative length", raw_batch(BODY, 3, batch_length=-5), CORRUPT, CORRUPT),
]

OF_THE_RECORDS: list[Case] = [
    ("garbage", raw_batch(b"\xde\xad\xbe\xef" * 20, 3), INVALID, UNEXPECTED),
    ("a record too few", raw_batch(BODY, 4), INVALID, INVALID),
    ("a record too many", raw_batch(BODY, 2), INVALID, INVALID),
    ("a byte too many", raw_batch(raw_record() + b"\x00"), INVALID, INVALID),
    ("offsets that repeat", raw_batch(raw_record() * 3, 3), INVALID, OK),
    ("offsets beyond the batch", raw_batch(raw_record(delta=9)), INVALID, OK),
    ("a negative offset", raw_batch(raw_record(delta=-1)), INVALID, OK),
    ("a record of negative length", raw_batch(raw_record(length=-1)), INVALID, INVALID),
    ("a length of nothing", raw_batch(raw_record(length=0)), INVALID, INVALID),
    ("a length beyond the batch", raw_batch(raw_record(length=20)), INVALID, INVALID),
    ("a length within the fields", raw_batch(raw_record(length=6)), INVALID, INVALID),
    ("a key of length -2", raw_batch(raw_record(key=b"", key_length=-2)), OK, OK),
    ("a key beyond the record", raw_batch(raw_record(key_length=200)), INVALID, INVALID),
    ("a value beyond the record", raw_batch(raw_record(value_length=200)), INVALID, INVALID),
    ("a number of six bytes", raw_batch(raw_record(key_length=LONG_NUMBER)), INVALID, INVALID),
    ("a time of ten bytes", raw_batch(raw_record(time_delta=b"\x80" * 9 + b"\x00")), OK, OK),
    ("a time of 11", raw_batch(raw_record(time_delta=b"\x80" * 10 + b"\x00")), INVALID, INVALID),
    ("-1 headers", raw_batch(raw_record(header_count=-1)), INVALID, INVALID),
    ("1000 headers, none there", raw_batch(raw_record(header_count=1000)), INVALID, INVALID),
    (
        "a header without a key",
        raw_batch(raw_record(header_count=1, headers=b"\x01\x01")),
        INVALID,
        INVALID,
    ),
    (
        "a header key beyond the record",
        raw_batch(raw_record(header_count=1, headers=b"\x7ea\x01")),
        INVALID,
        INVALID,
    ),
    ("a time that overflows", raw_batch(raw_record(time_delta=(1 << 63) - 1)), TIME, TIME),
    ("a time far ahead", raw_batch(raw_record(time_delta=10**10)), TIME, TIME),
]


def _compressed(codec: int) -> list[Case]:
    name, body = CODEC_NAMES[codec], compress(codec, BODY)
    trailing = UNEXPECTED if codec == ZSTD else OK
    empty = INVALID if codec == ZSTD else UNEXPECTED
    return [
        (f"{name}, good", raw_batch(body, 3, attributes=codec), OK, OK),
        (f"{name} over plain bytes", raw_batch(BODY, 3, attributes=codec), INVALID, UNEXPECTED),
        (f"{name}, no body", raw_batch(b"", 3, attributes=codec), INVALID, empty),
        (f"{name} of nothing", packed(codec, b"", 3), INVALID, INVALID),
        (f"{name}, cut off", raw_batch(body[:-1], 3, attributes=codec), INVALID, UNEXPECTED),
        (f"{name}, more behind", raw_batch(body + b"xyz", 3, attributes=codec), INVALID, trailing),
        (f"{name}, a record too few", packed(codec, BODY, 4), INVALID, INVALID),
        (f"{name}, a record too many", packed(codec, BODY, 2), INVALID, INVALID),
        (f"{name}, 2^31-1 records", packed(codec, BODY, 2**31 - 1), INVALID, INVALID),
        (f"{name}, offsets that repeat", packed(codec, raw_record() * 3, 3), INVALID, UNEXPECTED),
        (f"{name}, lengths unlike the fields", packed(codec, raw_record(length=6)), INVALID, OK),
        (f"{name}, -1 headers", packed(codec, raw_record(header_count=-1)), INVALID, INVALID),
    ]


@pytest.mark.parametrize("kind", ["header", "records", *CODEC_NAMES[1:]])
def test_what_nobody_could_read_is_refused(target: Target, kind: str) -> None:
    if kind in CODEC_NAMES:
        cases = _compressed(CODEC_NAMES.index(kind))
    else:
        cases = OF_THE_HEADER if kind == "header" else OF_THE_RECORDS
    target.create_topic(TOPIC)
    with target.wire() as wire:
        answers = {name: _code(wire, batch) for name, batch, _, _ in cases}
    expected = {name: ours if target.is_penstock else kafkas for name, _, ours, kafkas in cases}
    assert answers == expected


@pytest.mark.penstock(settings={})
def test_what_is_refused_by_default(target: Target) -> None:
    """Uncompressed batches are read, by compiled code; of others the frame is looked at. Snappy
    without Java's framing has no magic that could be wrong."""
    cases = [*OF_THE_HEADER, *(OF_THE_RECORDS if COMPILED else [])]
    for codec in (GZIP, LZ4, ZSTD):
        cases += [one for one in _compressed(codec) if "good" in one[0] or "over plain" in one[0]]
    target.create_topic(TOPIC)
    with target.wire() as wire:
        answers = {name: _code(wire, batch) for name, batch, _, _ in cases}
    expected = {name: ours if target.is_penstock else kafkas for name, _, ours, kafkas in cases}
    assert answers == expected


@pytest.mark.penstock(settings={"penstock.record.check": "never"})
def test_what_the_header_shows_is_refused_always(target: Target) -> None:
    if not target.is_penstock:
        pytest.skip("a setting of Penstock")
    target.create_topic(TOPIC)
    with target.wire() as wire:
        answers = {name: _code(wire, batch) for name, batch, _, _ in OF_THE_HEADER}
        huge = {
            name: _code(wire, packed(codec, BODY, 2**31 - 1))
            for codec, name in enumerate(CODEC_NAMES)
            if codec != ZSTD
        }
    assert answers == {name: ours for name, _, ours, _ in OF_THE_HEADER}
    assert set(huge.values()) == {INVALID}


@pytest.mark.parametrize("codec", range(5), ids=CODEC_NAMES)
def test_the_latest_time_is_set_right(target: Target, codec: int) -> None:
    """As Kafka does it: a look-up by time goes by the header."""
    target.create_topic(TOPIC)
    body = raw_record() + raw_record(delta=1, time_delta=50)
    with target.wire() as wire:
        assert _code(wire, packed(codec, body, 2, max_timestamp=NOW_MS)) == OK
        assert _code(wire, packed(codec, body, 2, max_timestamp=NOW_MS + 10**9)) == OK
        assert _look_up(wire, NOW_MS + 50) == (1, NOW_MS + 50)
        assert _look_up(wire, NOW_MS + 51) == (-1, -1)


COUNT = 3_000_000


@pytest.mark.parametrize("policy", ["compact", "delete"])
def test_three_million_records_in_thirty_kilobytes(target: Target, policy: str) -> None:
    """One record over and over: its offsets repeat, and that is the end of it."""
    target.create_topic(TOPIC, config={"cleanup.policy": policy})
    batch = packed(GZIP, raw_record() * COUNT, COUNT)
    case = f"{COUNT:,} equal records in {len(batch) // 1024} KB, {policy}"
    with target.watched(case), target.wire(60) as wire:
        assert _code(wire, batch) == (INVALID if target.is_penstock else UNEXPECTED)


@pytest.mark.parametrize("policy", ["compact", "delete"])
def test_a_million_records_in_a_batch(target: Target, policy: str) -> None:
    settings = {"cleanup.policy": policy, "max.message.bytes": str(20 << 20)}
    target.create_topic(TOPIC, config=settings)
    batch = packed(GZIP, many_records(1_000_000), 1_000_000)
    with target.watched(f"1,000,000 good records, {policy}"), target.wire(60) as wire:
        assert _code(wire, batch) == OK


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD], ids=CODEC_NAMES[1:])
def test_a_hundred_megabytes_out_of_little(target: Target, codec: int) -> None:
    target.create_topic(TOPIC, config={"max.message.bytes": str(20 << 20)})
    batch = zeros_batch(100 << 20, codec)
    case = f"{len(batch) // 1024} KB of {CODEC_NAMES[codec]} that unfold into 100 MB"
    with target.watched(case, memory_mb_max=160), target.wire(60) as wire:
        assert _code(wire, batch) == OK


def test_many_bombs_at_once(target: Target) -> None:
    """Beyond 256 MB nothing could read it here, and the producer is told to split it."""
    target.create_topic(TOPIC)
    batch = gzip_zeros_batch(300)
    codes: list[str] = []
    with target.watched("four batches that unfold into 300 MB each", memory_mb_max=100):
        _all_at_once(4, _send, target, batch, codes)
    assert codes == ["MESSAGE_TOO_LARGE" if target.is_penstock else OK] * 4


@pytest.mark.penstock(settings={})
def test_a_point_in_time_in_a_million_records(target: Target) -> None:
    """Whoever looks for the last of them reads all before it."""
    target.create_topic(TOPIC, config={"max.message.bytes": str(20 << 20)})
    batch = packed(GZIP, many_records(1_000_000), 1_000_000, max_timestamp=NOW_MS + 10)
    with target.wire(60) as wire:
        assert _code(wire, batch) == OK
    found: list[tuple[int, int]] = []
    with target.watched("eight look-ups by time in a batch of 1,000,000 records"):
        _all_at_once(8, _look_up_late, target, found)
    assert found == [(-1, -1)] * 8


def _look_up_late(target: Target, found: list[tuple[int, int]]) -> None:
    with target.wire(60) as wire:
        found.append(_look_up(wire, NOW_MS + 5))


def _look_up(wire: Wire, timestamp: int) -> tuple[int, int]:
    asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    topics = [ListOffsetsTopic(name=TOPIC, partitions=[asked])]
    answer = wire.call(ListOffsetsRequest(replica_id=-1, topics=topics), 6)
    part: Any = answer.topics[0].partitions[0]
    assert part.error_code == 0
    return part.offset, part.timestamp


def _all_at_once(count: int, work: Callable[..., None], *arguments: object) -> None:
    threads = [threading.Thread(target=work, args=arguments) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def _send(target: Target, batch: bytes, codes: list[str]) -> None:
    with target.wire(60) as wire:
        codes.append(_code(wire, batch))


def _code(wire: Wire, batch: bytes) -> str:
    deadline = time.monotonic() + 20
    while True:
        answer = produced(wire.call(produce(TOPIC, batch), VERSION))
        code = ErrorCode(answer.error_code)
        # Kafka tells of a new topic before it leads it.
        if code is not ErrorCode.NOT_LEADER_OR_FOLLOWER or time.monotonic() > deadline:
            return code.name
        time.sleep(0.05)
