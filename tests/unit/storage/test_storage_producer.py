from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error import ApiError, ErrorCode
from penstock.records.control import EndMarker
from penstock.records.header import SEQUENCE_MAX, BatchHeader, parse_header
from penstock.storage.producer.entry import decode_snapshot, encode_snapshot
from penstock.storage.producer.state import ProducerState
from tests.unit.storage.storage_kit import batch


def header(sequence: int, *, epoch: int = 0, count: int = 1, pid: int = 9, **more) -> BatchHeader:
    data = batch(count, producer_id=pid, producer_epoch=epoch, base_sequence=sequence, **more)
    return parse_header(data)


def append(state: ProducerState, offset: int, found: BatchHeader) -> None:
    assert state.check(found, sequences=True) is None
    state.apply(found, offset, found.max_timestamp)


def refuse(state: ProducerState, found: BatchHeader) -> ErrorCode:
    with pytest.raises(ApiError) as raised:
        state.check(found, sequences=True)
    return raised.value.code


def test_any_sequence_begins_for_an_unknown_producer() -> None:
    state = ProducerState()
    append(state, 0, header(17))
    append(state, 1, header(18))


def test_the_last_five_batches_are_duplicates() -> None:
    state = ProducerState()
    for number in range(7):
        append(state, number * 2, header(number * 2, count=2))
    for number in range(2, 7):
        found = state.check(header(number * 2, count=2), sequences=True)
        assert found is not None
        assert (found.first_offset, found.last_offset) == (number * 2, number * 2 + 1)
    assert refuse(state, header(2, count=2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refuse(state, header(12, count=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_gaps_and_old_epochs_are_refused() -> None:
    state = ProducerState()
    append(state, 0, header(0, epoch=3))
    assert refuse(state, header(2, epoch=3)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refuse(state, header(1, epoch=2)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert refuse(state, header(1, epoch=4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    append(state, 1, header(0, epoch=4))


def test_sequences_wrap() -> None:
    state = ProducerState()
    append(state, 0, header(SEQUENCE_MAX))
    append(state, 1, header(0))
    append(state, 2, header(1, count=3))
    wrapped = ProducerState()
    append(wrapped, 0, header(SEQUENCE_MAX - 1, count=4))
    append(wrapped, 4, header(2))
    assert wrapped.check(header(SEQUENCE_MAX - 1, count=4), sequences=True) is not None


def test_transactions_hold_back_the_stable_offset() -> None:
    state = ProducerState()
    append(state, 0, header(0, pid=1, is_transactional=True))
    append(state, 1, header(0, pid=2, is_transactional=True))
    assert state.first_unstable_offset() == 0
    assert refuse(state, header(1, pid=1)) is ErrorCode.INVALID_TXN_STATE
    done = state.apply_marker(header(-1, pid=1), EndMarker(False, 5), 2)
    assert done is not None and done.aborted
    assert state.stable_offset_after(done) == 1
    assert state.first_unstable_offset() == 0
    state.advance_high_watermark(3)
    assert state.first_unstable_offset() == 1
    assert state.apply_marker(header(-1, pid=2), EndMarker(True, 5), 3) is not None
    state.advance_high_watermark(4)
    assert state.first_unstable_offset() is None
    assert state.apply_marker(header(-1, pid=2), EndMarker(True, 5), 4) is None
    with pytest.raises(ApiError) as raised:
        state.check_marker(header(-1, pid=2), EndMarker(True, 4))
    assert raised.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_the_earliest_end_that_is_not_replicated_holds_back_the_stable_offset() -> None:
    """Also where a later transaction ended before it."""
    state = ProducerState()
    append(state, 0, header(0, pid=1, is_transactional=True))
    append(state, 1, header(0, pid=2, is_transactional=True))
    state.apply_marker(header(-1, pid=2), EndMarker(True, 5), 2)
    state.apply_marker(header(-1, pid=1), EndMarker(True, 5), 3)
    assert state.first_unstable_offset() == 0
    state.advance_high_watermark(3)
    assert state.first_unstable_offset() == 0
    state.advance_high_watermark(4)
    assert state.first_unstable_offset() is None


def test_snapshots_bring_the_state_back() -> None:
    state = ProducerState()
    append(state, 0, header(0, count=3))
    append(state, 3, header(0, pid=10, is_transactional=True))
    data = encode_snapshot(state.freeze())
    stored = decode_snapshot(data)
    assert stored is not None
    loaded = ProducerState()
    loaded.load(stored, 4)
    assert len(loaded) == 2
    assert loaded.first_unstable_offset() == 3
    assert encode_snapshot(loaded.freeze()) == data
    assert loaded.check(header(0, count=3), sequences=True) is not None
    assert refuse(loaded, header(4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    append(loaded, 4, header(3))


def test_expiry_spares_open_transactions() -> None:
    state = ProducerState()
    append(state, 0, header(0, pid=1, timestamp=100))
    append(state, 1, header(0, pid=2, timestamp=100, is_transactional=True))
    append(state, 2, header(0, pid=3, timestamp=900))
    assert state.expire(1000, 500) == 1
    assert sorted(entry.producer_id for entry in state.active()) == [2, 3]


@given(st.binary(max_size=200))
def test_garbage_is_no_snapshot(data: bytes) -> None:
    assert decode_snapshot(data) is None


@given(st.integers(0, 51), st.integers(1, 255))
def test_a_damaged_snapshot_is_none(position: int, mask: int) -> None:
    state = ProducerState()
    append(state, 0, header(0))
    data = bytearray(encode_snapshot(state.freeze()))
    data[position] ^= mask
    assert decode_snapshot(bytes(data)) is None


def test_the_first_sequence_that_was_tried_comes_first() -> None:
    """KAFKA-14920: the answer about a later batch came before the one about the first."""
    state = ProducerState()
    state.verifications.note(7, 0, 3, now_ms=100)
    state.verifications.note(7, 0, 0, now_ms=100)
    state.verifications.note(7, 0, 5, now_ms=100)
    refused = refuse(state, header(3, epoch=0, pid=7))
    assert refused is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert state.check(header(0, epoch=0, pid=7), sequences=True) is None
    state.apply(header(0, epoch=0, pid=7), 10, 100)
    assert state.check(header(1, epoch=0, pid=7), sequences=True) is None
    # Another epoch, or nobody for long: any sequence may begin.
    state.verifications.note(8, 1, 0, now_ms=100)
    assert state.check(header(9, epoch=2, pid=8), sequences=True) is None
    state.expire(1000, 500)
    assert state.check(header(9, epoch=1, pid=8), sequences=True) is None


def test_a_marker_is_known_by_where_it_stands() -> None:
    state = ProducerState()
    state.apply(header(0, epoch=0, pid=7), 10, 100)
    assert not state.has_ended_since(7, 0)
    state.apply_marker(header(0, epoch=0, pid=7), EndMarker(True, 3), 12)
    assert state.has_ended_since(7, 12)
    assert not state.has_ended_since(7, 13)
    assert not state.has_ended_since(8, 0)
