"""Produces that a thread has to check first: order, ends of topics and of connections."""

from __future__ import annotations

import time
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.records.compression import GZIP
from tests.batch_kit import good_body, many_records, packed, raw_batch
from tests.node.wire_kit import Wire, fetch, fetched, part, produce, produced

VERSION = 11
MANY = 300_000
CONFIG = {"max.message.bytes": str(20 << 20), "penstock.record.check": "always"}


def long_batch(**fields: Any) -> bytes:
    """More than the loop would check by itself."""
    return packed(GZIP, many_records(MANY), MANY, **fields)


def short_batch(count: int = 1, **fields: Any) -> bytes:
    return raw_batch(good_body(count), count, **fields)


def end_offset(wire: Wire, topic: str) -> int:
    answer = wire.call(fetch({topic: [part(max_bytes=1)]}), 12)
    offset: int = fetched(answer)[topic, 0].high_watermark
    return offset


def await_offset(wire: Wire, topic: str, expected: int) -> None:
    deadline = time.monotonic() + 30
    while end_offset(wire, topic) != expected:
        assert time.monotonic() < deadline, end_offset(wire, topic)
        time.sleep(0.05)


@pytest.mark.parametrize("flushed", [True, False])
def test_what_follows_on_the_connection_goes_behind(penstock: Any, flushed: bool) -> None:
    flush = {} if flushed else {"flush.messages": str(2**63 - 1)}
    penstock.create_topic("t", config=CONFIG | flush)
    penstock.create_topic("u", config=CONFIG | flush)
    with Wire(penstock.bootstrap_servers, 30) as wire:
        batches = [long_batch(), short_batch(), long_batch(), short_batch(2)]
        requests = [produce("t", one) for one in batches]
        wire.send_together([requests[0], produce("u", short_batch()), *requests[1:]], VERSION)
        answers = [produced(wire.receive()) for _ in range(5)]
    assert [one.error_code for one in answers] == [0] * 5
    assert [one.base_offset for one in answers] == [0, 0, MANY, MANY + 1, 2 * MANY + 1]


def test_sequences_arrive_in_order(penstock: Any) -> None:
    penstock.create_topic("t", config=CONFIG)
    producer = {"producer_id": 9, "producer_epoch": 0}
    with Wire(penstock.bootstrap_servers, 30) as wire:
        batches = [
            long_batch(**producer, base_sequence=0),
            short_batch(**producer, base_sequence=MANY),
            long_batch(**producer, base_sequence=MANY + 1),
            # The first again, as after a lost answer.
            long_batch(**producer, base_sequence=0),
        ]
        wire.send_together([produce("t", one) for one in batches], VERSION)
        answers = [produced(wire.receive()) for _ in batches]
        assert [one.error_code for one in answers] == [0] * 4
        assert [one.base_offset for one in answers] == [0, MANY, MANY + 1, 0]
        assert end_offset(wire, "t") == 2 * MANY + 1


def test_one_batch_of_several_is_refused(penstock: Any) -> None:
    penstock.create_topic("t", partitions=3, config=CONFIG)
    request = produce("t", long_batch())
    bad = packed(GZIP, many_records(MANY), MANY - 1)
    data = request.topic_data[0].partition_data
    for index, records in ((1, bad), (2, short_batch())):
        data.append(type(data[0])(index=index, records=records))
    with Wire(penstock.bootstrap_servers, 30) as wire:
        answers = wire.call(request, VERSION).responses[0].partition_responses
    assert [(one.index, one.error_code, one.base_offset) for one in answers] == [
        (0, 0, 0),
        (1, ErrorCode.INVALID_RECORD, -1),
        (2, 0, 0),
    ]


def test_unacknowledged_records_outlive_their_connection(penstock: Any) -> None:
    penstock.create_topic("t", config=CONFIG)
    with Wire(penstock.bootstrap_servers, 30) as wire:
        wire.send(produce("t", long_batch(), acks=0), VERSION, answered=False)
        wire.send(produce("t", short_batch(), acks=0), VERSION, answered=False)
    with Wire(penstock.bootstrap_servers, 30) as wire:
        await_offset(wire, "t", MANY + 1)


def test_an_unacknowledged_batch_that_is_refused_closes(penstock: Any) -> None:
    penstock.create_topic("t", config=CONFIG)
    bad = packed(GZIP, many_records(MANY), MANY - 1)
    with Wire(penstock.bootstrap_servers, 30) as wire:
        wire.send(produce("t", bad, acks=0), VERSION, answered=False)
        assert wire.is_closed()
    with Wire(penstock.bootstrap_servers, 30) as wire:
        assert end_offset(wire, "t") == 0
    assert "Traceback" not in penstock.log_file.read_text()


def test_a_topic_that_goes_meanwhile(penstock: Any) -> None:
    penstock.create_topic("t", config=CONFIG)
    delete = DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=5000)
    batch = long_batch()
    with Wire(penstock.bootstrap_servers, 30) as wire, Wire(penstock.bootstrap_servers) as other:
        wire.send_together([produce("t", batch) for _ in range(6)], VERSION)
        time.sleep(0.05)
        assert other.call(delete, 6).responses[0].error_code == 0
        codes = [produced(wire.receive()).error_code for _ in range(6)]
    gone = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert codes[-1] in gone
    assert set(codes) <= {0, *gone}


def test_a_connection_that_goes_meanwhile(penstock: Any) -> None:
    penstock.create_topic("t", config=CONFIG)
    batch = long_batch()
    for _ in range(3):
        with Wire(penstock.bootstrap_servers, 30) as wire:
            wire.send_together([produce("t", batch) for _ in range(3)], VERSION)
    with Wire(penstock.bootstrap_servers, 30) as wire:
        answer = produced(wire.call(produce("t", batch), VERSION))
    assert answer.error_code == 0
    assert answer.base_offset % MANY == 0
    assert "Traceback" not in penstock.log_file.read_text()
