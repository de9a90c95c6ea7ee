"""The coordinators' topics: forged records, damaged files, and deletion while they are in use."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from penstock.coordinator.topic import CONSUMER_OFFSETS, TRANSACTION_STATE, partition_of
from penstock.model.error import ErrorCode
from penstock.protocol.messages.list_transactions import ListTransactionsRequest
from penstock.records.header import BATCH_OVERHEAD
from tests.node.commit_kit import TOPIC, commit, commit_error, committed, create, wait_zero
from tests.node.coordinator_kit import (
    SETTINGS,
    add,
    begin,
    delete,
    end,
    forge,
    join,
    offset_key,
    offset_value,
    segment_of,
    text,
)
from tests.node.node_kit import RunningNode, running
from tests.node.wire_kit import Wire, batch, produce, produced


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "data"


def start_with_offset(node: RunningNode, offset: int, group: str = "g") -> None:
    with Wire(node.address) as wire:
        wire.call(create(TOPIC), 7)
        wait_zero(lambda: commit_error(wire.call(commit(offset, group), 8)))


# What is in the log and cannot be read


@pytest.mark.parametrize(
    ("pairs", "missing", "count"),
    [
        pytest.param(
            [(offset_key("g"), offset_value(999)[:length]) for length in (5, 1, 0)],
            "records that cannot be read",
            3,
            id="truncated values",
        ),
        pytest.param(
            [(offset_key("g"), b"\x7f\xff" + offset_value(999)[2:])],
            "records that cannot be read",
            1,
            id="a version nobody knows",
        ),
        pytest.param(
            [(b"\0", b"x"), (b"\0\1\0\x50g", b"x")],
            "records that cannot be read",
            2,
            id="truncated keys",
        ),
        pytest.param([(b"\x7f\0rest", b"x")], "records of unknown type", 1, id="unknown types"),
    ],
)
def test_a_coordinator_serves_past_records_that_it_cannot_read(
    home: Path,
    caplog: pytest.LogCaptureFixture,
    pairs: list[tuple[bytes, bytes]],
    missing: str,
    count: int,
) -> None:
    with running(home, settings=SETTINGS) as node:
        start_with_offset(node, 7)
        with Wire(node.address) as wire:
            forge(wire, CONSUMER_OFFSETS, "g", *pairs)
    with running(home, settings=SETTINGS) as node, Wire(node.address) as wire:
        wait_zero(lambda: commit_error(wire.call(commit(3, "other"), 8)))
        assert committed(wire, "g") == 7
        wait_zero(lambda: commit_error(wire.call(commit(8, "g"), 8)))
        assert committed(wire, "g") == 8
        assert node.node.metrics.passed_over == {(CONSUMER_OFFSETS, missing): count}
    (said,) = (one for one in caplog.records if "not all of its log" in one.getMessage())
    fields: dict[str, Any] = said.fields  # type: ignore[attr-defined]
    assert said.levelno == logging.ERROR
    assert (fields["missing"], fields["count"]) == (missing, count)
    assert fields["first_offset"] == 1


def test_transactions_past_records_that_make_no_sense(home: Path) -> None:
    """One that cannot be read, one in a state that there is not, and one that is to be committed
    into partitions that there are not."""
    with running(home, settings=SETTINGS) as node, Wire(node.address) as wire:
        wire.call(create(TOPIC), 7)
        before = begin(wire)
        key = b"\0\0" + text("tx")
        state = b"\0\0" + (5).to_bytes(8, "big") + bytes(2) + (60_000).to_bytes(4, "big")
        forge(wire, TRANSACTION_STATE, "tx", (key, state[:9]), (key, state + b"\x63" + b"\xff" * 4))
        partitions = b"".join(
            text(topic) + (1).to_bytes(4, "big") + (77).to_bytes(4, "big")
            for topic in (CONSUMER_OFFSETS, "never", TOPIC)
        )
        prepared = state + b"\2" + (3).to_bytes(4, "big") + partitions + bytes(16)
        forge(wire, TRANSACTION_STATE, "forged", (b"\0\0" + text("forged"), prepared))
    with running(home, settings=SETTINGS) as node, Wire(node.address) as wire:
        after = begin(wire)
        assert (after.producer_id, after.producer_epoch) == (before.producer_id, 1)
        begin(wire, "forged")
        found = wire.call(ListTransactionsRequest(), 0).transaction_states
        states = {one.transactional_id: one.transaction_state for one in found}
        assert states == {"tx": "Empty", "forged": "Empty"}


def test_a_coordinator_serves_past_a_damaged_batch(home: Path) -> None:
    names = [f"g{number}" for number in range(20)]
    first, second, *_ = (name for name in names if partition_of(name, 3) == 0)
    with running(home, settings=SETTINGS) as node:
        start_with_offset(node, 5, first)
        with Wire(node.address) as wire:
            wait_zero(lambda: commit_error(wire.call(commit(7, second), 8)))
    path = segment_of(home, CONSUMER_OFFSETS, first)
    data = bytearray(path.read_bytes())
    data[BATCH_OVERHEAD + 8] ^= 0x40
    path.write_bytes(data)
    with running(home, settings=SETTINGS) as node, Wire(node.address) as wire:
        assert (committed(wire, first), committed(wire, second)) == (-1, 7)
        assert node.node.metrics.passed_over == {(CONSUMER_OFFSETS, "damaged batches"): 1}
        wait_zero(lambda: commit_error(wire.call(commit(6, first), 8)))
        assert committed(wire, first) == 6


# Deletion


def test_offsets_are_committed_after_their_topic_was_deleted(home: Path) -> None:
    with running(home, settings=SETTINGS) as node, Wire(node.address) as wire:
        start_with_offset(node, 7, "g")
        for offset in range(8, 12):
            delete(wire, CONSUMER_OFFSETS)
            assert committed(wire, "g") == -1
            wait_zero(lambda offset=offset: commit_error(wire.call(commit(offset, "g"), 8)))
            assert committed(wire, "g") == offset
    with running(home, settings=SETTINGS) as node, Wire(node.address) as wire:
        assert committed(wire, "g") == 11


def test_who_waits_in_a_group_is_sent_to_look_for_its_coordinator(home: Path) -> None:
    with (
        running(home, settings=SETTINGS | {"group.initial.rebalance.delay.ms": "0"}) as node,
        Wire(node.address) as first,
        Wire(node.address) as second,
    ):
        wait_zero(lambda: 0 if first.call(join(), 5).member_id else 15)
        member_id = first.call(join(), 5).member_id
        assert first.call(join(member_id), 5).error_code == 0
        second.send(join(second.call(join(), 5).member_id), 5)
        assert not second.has_answer(0.1)
        delete(first, CONSUMER_OFFSETS)
        assert second.receive().error_code == ErrorCode.NOT_COORDINATOR


def test_transactions_begin_anew_after_their_topic_was_deleted(home: Path) -> None:
    with running(home, settings=SETTINGS) as node, Wire(node.address) as wire:
        wire.call(create(TOPIC), 7)
        for _ in range(3):
            producer = begin(wire)
            assert add(wire, producer) == 0
            delete(wire, TRANSACTION_STATE)
            assert wire.call(end(producer), 3).error_code in (
                ErrorCode.NOT_COORDINATOR,
                ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            )
        producer = begin(wire)
        assert add(wire, producer) == 0
        assert wire.call(end(producer), 3).error_code == 0


def test_nothing_is_left_of_a_deleted_internal_topic(home: Path) -> None:
    settings = SETTINGS | {"log.segment.delete.delay.ms": "0"}
    with running(home, settings=settings) as node, Wire(node.address) as wire:
        start_with_offset(node, 7, "g")
        begin(wire)
        delete(wire, CONSUMER_OFFSETS)
        delete(wire, TRANSACTION_STATE)
    left = [one.name for one in home.iterdir() if one.name.startswith("__")]
    assert [one for one in left if not one.endswith("-delete")] == ["__cluster_metadata-0"]


def test_a_transaction_ends_though_its_topic_is_gone(home: Path) -> None:
    with running(home, settings=SETTINGS) as node, Wire(node.address) as wire:
        wire.call(create(TOPIC), 7)
        producer = begin(wire)
        assert add(wire, producer) == 0
        data = batch(
            b"x",
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            base_sequence=0,
            is_transactional=True,
        )
        request = produce(TOPIC, data, transactional_id="tx")
        assert produced(wire.call(request, 11)).error_code == 0
        delete(wire, TOPIC)
        # A topic of the same name has nothing of the transaction, and takes its marker.
        wire.call(create(TOPIC), 7)
        assert wire.call(end(producer), 3).error_code == 0
        assert begin(wire).producer_epoch > producer.producer_epoch
