"""Fetch as raw requests see it: sessions, limits, waiting, epochs, isolation."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Producer

from penstock.model.error import ErrorCode
from penstock.protocol.messages.fetch import FetchRequest, FetchTopic, ForgottenTopic
from penstock.records.control import build_end_marker
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    batch,
    fetch,
    fetched,
    part,
    produce,
    produced,
    recent,
    topic_id,
    values,
)


@pytest.fixture
def wire(penstock: Any) -> Iterator[Wire]:
    penstock.create_topic("a", 3)
    penstock.create_topic("b", 1)
    with Wire(penstock.bootstrap_servers) as connection:
        yield connection


def put(wire: Wire, topic: str, data: bytes | bytearray, partition: int = 0) -> int:
    answer = produced(wire.call(produce(topic, data, partition), PRODUCE_VERSION))
    assert answer.error_code == 0, answer
    offset: int = answer.base_offset
    return offset


def get(wire: Wire, topics: dict[str, list[Any]], **more: Any) -> dict[tuple[str, int], Any]:
    response = wire.call(fetch(topics, **more), FETCH_VERSION)
    assert response.error_code == 0
    return fetched(response)


# Where to read from


def test_from_the_middle_of_a_batch_the_whole_batch_comes(wire: Wire) -> None:
    put(wire, "a", batch(b"0", b"1", b"2"))
    put(wire, "a", batch(b"3"))
    one = get(wire, {"a": [part(offset=1)]})["a", 0]
    assert values(one) == [b"0", b"1", b"2", b"3"]
    assert (one.high_watermark, one.last_stable_offset, one.log_start_offset) == (4, 4, 0)
    assert values(get(wire, {"a": [part(offset=3)]})["a", 0]) == [b"3"]
    assert values(get(wire, {"a": [part(offset=4)]})["a", 0]) == []


@pytest.mark.parametrize("offset", [5, 1000, -1, 2**62])
def test_out_of_range(wire: Wire, offset: int) -> None:
    put(wire, "a", batch(b"0", b"1", b"2"))
    one = get(wire, {"a": [part(offset=offset)]}, max_wait_ms=5000)["a", 0]
    assert one.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_epochs(wire: Wire) -> None:
    put(wire, "a", batch(b"0"))
    asked = [part(current_leader_epoch=epoch) for epoch in (-1, 0)]
    for each in asked:
        assert values(get(wire, {"a": [each]})["a", 0]) == [b"0"]
    newer = get(wire, {"a": [part(current_leader_epoch=7)]})["a", 0]
    assert newer.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_an_older_epoch_is_fenced_after_a_crash(penstock: Any, wire: Wire) -> None:
    put(wire, "a", batch(b"0"))
    penstock.kill()
    penstock.start()
    with Wire(penstock.bootstrap_servers) as again:
        one = get(again, {"a": [part(current_leader_epoch=0)]})["a", 0]
        assert one.error_code == ErrorCode.FENCED_LEADER_EPOCH
        assert values(get(again, {"a": [part()]})["a", 0]) == [b"0"]


def test_a_diverging_history_is_told_where_it_parted(wire: Wire) -> None:
    put(wire, "a", batch(b"0", b"1"))
    one = get(wire, {"a": [part(offset=9, last_fetched_epoch=0)]})["a", 0]
    assert (one.diverging_epoch.epoch, one.diverging_epoch.end_offset) == (0, 2)
    assert not values(one)


def test_unknown_partitions_and_topics(wire: Wire) -> None:
    found = get(wire, {"a": [part(9)], "nowhere": [part(0)]})
    assert {one.error_code for one in found.values()} == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


# Limits


def test_limits_in_bytes(wire: Wire) -> None:
    one_batch = batch(b"x" * 1000)
    size = len(one_batch)
    for index in range(3):
        for _ in range(4):
            put(wire, "a", one_batch, index)
    found = get(wire, {"a": [part(0, max_bytes=2 * size), part(1, max_bytes=size)]})
    assert [len(values(found["a", index])) for index in (0, 1)] == [2, 1]
    # The whole answer is bounded too, and who came first fills it.
    found = get(wire, {"a": [part(0), part(1), part(2)]}, max_bytes=5 * size)
    assert [len(values(found["a", index])) for index in range(3)] == [4, 1, 0]


def test_one_batch_always_comes_however_small_the_limits(wire: Wire) -> None:
    put(wire, "a", batch(b"x" * 5000), 0)
    put(wire, "a", batch(b"y" * 5000), 1)
    found = get(wire, {"a": [part(0, max_bytes=1), part(1, max_bytes=1)]}, max_bytes=1)
    assert values(found["a", 0]) == [b"x" * 5000]
    assert values(found["a", 1]) == []


def test_the_brokers_own_limit_holds(penstock_factory: Any) -> None:
    broker = penstock_factory({"fetch.max.bytes": 4096})
    broker.create_topic("a", 1)
    with Wire(broker.bootstrap_servers) as wire:
        for _ in range(20):
            put(wire, "a", batch(b"x" * 1000))
        one = get(wire, {"a": [part()]})["a", 0]
        assert 0 < len(one.records) <= 4096


# Waiting


def test_waits_for_min_bytes_and_no_longer_than_max_wait(wire: Wire, penstock: Any) -> None:
    started = time.monotonic()
    assert values(get(wire, {"a": [part()]}, max_wait_ms=200)["a", 0]) == []
    assert time.monotonic() - started >= 0.19
    one_batch = batch(b"x" * 500)
    wire.send(fetch({"a": [part(0), part(1)]}, max_wait_ms=60_000, min_bytes=900), FETCH_VERSION)
    with Wire(penstock.bootstrap_servers) as other:
        put(other, "a", one_batch, 0)
        wire.sock.settimeout(0.2)
        with pytest.raises(TimeoutError):
            wire.sock.recv(1)
        wire.sock.settimeout(60)
        put(other, "a", one_batch, 1)
    found = fetched(wire.receive())
    assert [len(values(found["a", index])) for index in (0, 1)] == [1, 1]


FOREVER_MS = 3_600_000
"""Longer than any test is let run."""


def test_nothing_to_wait_for_is_answered_at_once(wire: Wire) -> None:
    assert get(wire, {}, max_wait_ms=FOREVER_MS) == {}
    # An error is worth telling at once, whatever else is asked for.
    found = get(wire, {"a": [part(0), part(9)]}, max_wait_ms=FOREVER_MS)
    assert found["a", 9].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert get(wire, {"a": [part(0)]}, max_wait_ms=FOREVER_MS, min_bytes=0)["a", 0].error_code == 0


def test_a_poll_for_a_topic_that_is_deleted_is_woken(wire: Wire, penstock: Any) -> None:
    from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

    wire.send(fetch({"b": [part()]}, max_wait_ms=FOREVER_MS), FETCH_VERSION)
    with Wire(penstock.bootstrap_servers) as other:
        other.call(DeleteTopicsRequest(topics=[DeleteTopicState(name="b")]), 6)
    assert fetched(wire.receive())["b", 0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# Sessions


def session(
    wire: Wire, session_id: int, epoch: int, topics: dict[str, list[Any]], **more: Any
) -> Any:
    options = {"session_id": session_id, "session_epoch": epoch} | more
    return wire.call(fetch(topics, **options), FETCH_VERSION)


def test_a_session_tells_only_what_changed(wire: Wire) -> None:
    put(wire, "a", batch(b"0"))
    first = session(wire, 0, 0, {"a": [part(0), part(1)], "b": [part(0)]})
    assert first.session_id > 0
    assert set(fetched(first)) == {("a", 0), ("a", 1), ("b", 0)}
    number = first.session_id
    quiet = session(wire, number, 1, {"a": [part(0, offset=1)]})
    assert (quiet.session_id, fetched(quiet)) == (number, {})
    put(wire, "b", batch(b"news"))
    news = session(wire, number, 2, {})
    assert {key: values(one) for key, one in fetched(news).items()} == {("b", 0): [b"news"]}
    forgotten = [ForgottenTopic(topic="b", partitions=[0])]
    assert fetched(session(wire, number, 3, {}, forgotten_topics_data=forgotten)) == {}
    put(wire, "a", batch(b"more"), 1)
    more = session(wire, number, 4, {})
    assert {key: values(one) for key, one in fetched(more).items()} == {("a", 1): [b"more"]}
    ended = session(wire, number, -1, {"a": [part(0, offset=1)]})
    assert (ended.session_id, set(fetched(ended))) == (0, {("a", 0)})
    late = session(wire, number, 5, {})
    assert late.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_sessions_refuse_what_does_not_follow(wire: Wire) -> None:
    number = session(wire, 0, 0, {"a": [part(0)]}).session_id
    wrong = session(wire, number, 5, {})
    assert wrong.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    unknown = session(wire, number + 999, 1, {})
    assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert session(wire, number, 1, {}).error_code == 0
    # A session of names is none of ids.
    ids = FetchRequest(max_wait_ms=0, session_id=number, session_epoch=2)
    assert wire.call(ids, 13).error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_a_waiting_fetch_of_a_session_hears_of_new_records(wire: Wire, penstock: Any) -> None:
    number = session(wire, 0, 0, {"a": [part(0), part(1), part(2)]}).session_id
    wire.send(
        fetch({}, session_id=number, session_epoch=1, max_wait_ms=9000, min_bytes=1), FETCH_VERSION
    )
    with Wire(penstock.bootstrap_servers) as other:
        put(other, "a", batch(b"new"), 2)
    found = fetched(wire.receive())
    assert {key: values(one) for key, one in found.items()} == {("a", 2): [b"new"]}


def test_by_topic_id(wire: Wire) -> None:
    put(wire, "a", batch(b"0"))
    number = topic_id(wire, "a")

    def ask(identity: bytes, version: int = 18) -> Any:
        topic = FetchTopic(topic_id=identity, partitions=[part()])
        request = FetchRequest(max_wait_ms=0, min_bytes=0, session_epoch=-1, topics=[topic])
        return wire.call(request, version).responses[0].partitions[0]

    for version in range(13, 19):
        assert values(ask(number, version)) == [b"0"]
    assert ask(b"\x07" * 16).error_code == ErrorCode.UNKNOWN_TOPIC_ID


# Isolation


@contextmanager
def open_transaction(broker: Any, topic: str, *contents: bytes) -> Iterator[None]:
    """Written, and neither committed nor aborted until the end."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "open"}
    producer = Producer(settings, logger=logging.getLogger("penstock.testing"))
    producer.init_transactions(10)
    producer.begin_transaction()
    for each in contents:
        producer.produce(topic, value=each, partition=0)
    assert producer.flush(10) == 0
    yield
    producer.abort_transaction(10)
    # The markers follow the answer; who takes the name over is kept waiting until they are there.
    Producer(settings, logger=logging.getLogger("penstock.testing")).init_transactions(10)


def test_read_committed_ends_before_the_first_open_transaction(wire: Wire, penstock: Any) -> None:
    put(wire, "a", recent(b"plain"))
    with open_transaction(penstock, "a", b"open"):
        put(wire, "a", recent(b"behind"))
        one = get(wire, {"a": [part()]}, isolation_level=1)["a", 0]
        assert values(one) == [b"plain"]
        assert (one.last_stable_offset, one.high_watermark) == (1, 3)
        assert one.aborted_transactions == []
        everything = get(wire, {"a": [part()]})["a", 0]
        assert values(everything) == [b"plain", b"open", b"behind"]
        assert get(wire, {"a": [part(offset=3)]}, isolation_level=1)["a", 0].error_code == 0
    one = get(wire, {"a": [part()]}, isolation_level=1)["a", 0]
    assert values(one) == [b"plain", b"open", b"behind"]
    assert [each.first_offset for each in one.aborted_transactions] == [1]
    assert one.last_stable_offset == one.high_watermark == 4


def test_clients_may_not_write_markers_themselves(wire: Wire) -> None:
    marker = build_end_marker(
        producer_id=5000, producer_epoch=0, commit=True, coordinator_epoch=0, timestamp=1
    )
    for transactional_id in (None, "x"):
        request = produce("a", marker, transactional_id=transactional_id)
        assert produced(wire.call(request, PRODUCE_VERSION)).error_code != 0
    assert values(get(wire, {"a": [part()]})["a", 0]) == []


def test_replies_to_garbage_in_between_keep_their_place(wire: Wire) -> None:
    """A damaged batch is refused alone; what came before and after it is answered."""
    damaged = batch(b"fine")
    damaged[-2] ^= 1
    wire.send(produce("a", batch(b"1")), PRODUCE_VERSION)
    wire.send(produce("a", damaged), PRODUCE_VERSION)
    wire.send(produce("a", batch(b"2")), PRODUCE_VERSION)
    codes = [produced(wire.receive()).error_code for _ in range(3)]
    assert codes == [0, ErrorCode.CORRUPT_MESSAGE, 0]
    assert values(get(wire, {"a": [part()]})["a", 0]) == [b"1", b"2"]
