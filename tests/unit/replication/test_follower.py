"""Where a follower fetches from, and what each answer means for its log."""

from __future__ import annotations

import pytest

from penstock.model.error import ErrorCode
from penstock.replication.divergence import EpochEnd
from penstock.replication.follower import (
    Append,
    AskOffset,
    FetchAnswer,
    FetchFrom,
    Follower,
    RestartAt,
    Truncate,
)
from tests.unit.replication.replica_kit import NOW, LogView, fetched_batch, log_view

BACKOFF_MS = 1000


def following(log: LogView, leader_epoch: int = 5) -> Follower:
    return Follower(2, leader_epoch, log, BACKOFF_MS)


def ask(follower: Follower, log: LogView) -> FetchFrom:
    request = follower.next_request(log.end_offset, NOW)
    assert isinstance(request, FetchFrom)
    return request


# Asking


def test_it_asks_behind_its_end_and_names_the_epoch_in_front() -> None:
    log = log_view((3, 0), (5, 7), end=10, start=2)
    assert ask(following(log), log) == FetchFrom(10, 5, 5, 2)


def test_with_epochs_nothing_is_cut_at_the_high_watermark() -> None:
    """KIP-101: what stands behind it may be committed."""
    assert following(log_view((3, 0), end=10, mark=4)).begin() is None


def test_without_any_epoch_the_high_watermark_is_all_that_is_known_to_be_common() -> None:
    assert following(log_view(end=10, mark=4)).begin() == Truncate(4)
    assert following(log_view(end=10, mark=1, start=3)).begin() == Truncate(3)
    assert following(log_view(end=4, mark=4)).begin() is None


def test_it_does_not_acknowledge_what_is_not_safe_yet() -> None:
    log = log_view((5, 0), end=10)
    follower = following(log)
    assert follower.next_request(7, NOW) is None
    assert follower.next_request(10, NOW) is not None


# Answers to closed questions


def test_an_answer_counts_only_where_it_was_asked_for() -> None:
    """KAFKA-10554, 13207, 18723."""
    log = log_view((5, 0), end=10)
    follower = following(log)
    asked = ask(follower, log)
    answer = FetchAnswer(0, fetched_batch(10, 2, 5), 12, 0)
    for stale in (
        asked._replace(offset=9),
        asked._replace(leader_epoch=4),
        asked._replace(last_fetched_epoch=4),
    ):
        assert follower.on_answer(stale, answer, NOW) is None
    log.end_offset = 12
    assert follower.on_answer(asked, answer, NOW) is None, "appended meanwhile, and not safe yet"


def test_a_new_epoch_of_the_same_leader_is_a_new_follower() -> None:
    """KAFKA-7164: what was asked in the epoch before is not taken, and divergence is asked anew."""
    log = log_view((5, 0), end=10)
    asked = ask(following(log, 5), log)
    again = following(log, 6)
    assert again.on_answer(asked, FetchAnswer(0, fetched_batch(10, 1, 5), 11, 0), NOW) is None
    assert ask(again, log) == FetchFrom(10, 5, 6, 0)


# Records


def test_records_come_with_what_the_leader_says_of_its_log() -> None:
    log = log_view((5, 0), end=10)
    follower = following(log)
    records = fetched_batch(10, 2, 5) + fetched_batch(12, 1, 5)
    action = follower.on_answer(ask(follower, log), FetchAnswer(0, records, 40, 6), NOW)
    assert action == Append(records, 40, 6)
    assert isinstance(action, Append)
    assert action.high_watermark(13) == 13, "no follower shows what it does not have"
    assert action.high_watermark(50) == 40
    assert action.log_start_offset(13) == 6
    assert action.log_start_offset(4) == 4


def test_a_cut_off_batch_is_left_out() -> None:
    log = log_view((5, 0), end=10)
    follower = following(log)
    whole = fetched_batch(10, 2, 5)
    for rest in (1, 30, 62):
        answer = FetchAnswer(0, whole + fetched_batch(12, 5, 5)[:rest], 12, 0)
        action = follower.on_answer(ask(follower, log), answer, NOW)
        assert isinstance(action, Append)
        assert (bytes(action.records), action.leader_high_watermark) == (whole, 12)


def test_batches_of_a_later_leader_are_left_out_with_all_behind_and_their_watermark() -> None:
    """KAFKA-18723: a deposed leader answered late, from a log that follows another by now."""
    log = log_view((5, 0), end=10, mark=8)
    follower = following(log)
    own = fetched_batch(10, 2, 5)
    mixed = own + fetched_batch(12, 1, 7) + fetched_batch(13, 1, 5)
    action = follower.on_answer(ask(follower, log), FetchAnswer(0, mixed, 14, 3), NOW)
    assert isinstance(action, Append)
    assert bytes(action.records) == own
    assert action.high_watermark(12) < 8
    assert action.log_start_offset(8) < 0


def test_a_leader_whose_log_starts_within_its_first_batch() -> None:
    """After DeleteRecords: the empty log begins with the whole batch."""
    log = log_view(end=12, start=12, mark=12)
    follower = following(log)
    records = fetched_batch(10, 5, 5)
    action = follower.on_answer(ask(follower, log), FetchAnswer(0, records, 15, 12), NOW)
    assert action == Append(records, 15, 12, restart_at=10)


def test_the_same_where_the_own_log_ends_at_that_start() -> None:
    """Epochs cannot tell that 10 and 11 are other records here: the leader has none so early."""
    log = log_view((2, 0), end=12, mark=3)
    follower = following(log)
    records = fetched_batch(10, 5, 5)
    action = follower.on_answer(ask(follower, log), FetchAnswer(0, records, 15, 12), NOW)
    assert action == Append(records, 15, 12, restart_at=10)


def test_a_batch_that_begins_before_the_end_replaces_what_it_covers() -> None:
    log = log_view((5, 0), end=12)
    follower = following(log)
    answer = FetchAnswer(0, fetched_batch(10, 5, 5), 15, 0)
    assert follower.on_answer(ask(follower, log), answer, NOW) == Truncate(10)


# Divergence


def test_a_diverging_answer_cuts_and_nothing_else() -> None:
    """KAFKA-14704: its watermark is about other records."""
    log = log_view((3, 0), (4, 6), end=10, mark=5)
    follower = following(log)
    answer = FetchAnswer(0, fetched_batch(10, 1, 5), 10, 9, EpochEnd(3, 8))
    assert follower.on_answer(ask(follower, log), answer, NOW) == Truncate(6)


def test_a_leader_that_cannot_tell_where_logs_part_is_asked_later() -> None:
    log = log_view((3, 0), end=10, mark=5)
    follower = following(log)
    answer = FetchAnswer(0, b"", 10, 0, EpochEnd(-1, -1))
    assert follower.on_answer(ask(follower, log), answer, NOW) is None
    assert follower.next_request(10, NOW) is None
    assert follower.next_request(10, NOW + BACKOFF_MS) is not None


# Errors


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.CORRUPT_MESSAGE,
    ],
)
def test_errors_are_tried_again_after_a_while(code: ErrorCode) -> None:
    log = log_view((5, 0), end=10)
    follower = following(log)
    assert follower.on_answer(ask(follower, log), FetchAnswer(code), NOW) is None
    assert follower.next_request(10, NOW + BACKOFF_MS - 1) is None
    assert follower.next_request(10, NOW + BACKOFF_MS) is not None


def test_a_fenced_follower_waits_for_metadata() -> None:
    """KIP-320."""
    log = log_view((5, 0), end=10)
    follower = following(log)
    answer = FetchAnswer(ErrorCode.FENCED_LEADER_EPOCH)
    assert follower.on_answer(ask(follower, log), answer, NOW) is None
    assert follower.failed
    assert follower.next_request(10, NOW + 100 * BACKOFF_MS) is None


# Offsets out of range


def out_of_range(log: LogView) -> Follower:
    follower = following(log)
    answer = FetchAnswer(ErrorCode.OFFSET_OUT_OF_RANGE)
    assert follower.on_answer(ask(follower, log), answer, NOW) is None
    assert follower.next_request(log.end_offset, NOW) is AskOffset.LATEST
    return follower


def test_a_log_longer_than_the_leaders_is_cut_at_its_end() -> None:
    log = log_view((5, 0), end=10)
    follower = out_of_range(log)
    assert follower.on_offset(AskOffset.LATEST, 5, 0, 7, NOW) == Truncate(7)
    log.end_offset = 7
    assert isinstance(follower.next_request(7, NOW), FetchFrom)


def test_a_log_that_ends_before_the_leaders_start_begins_anew() -> None:
    log = log_view((5, 0), end=10)
    follower = out_of_range(log)
    assert follower.on_offset(AskOffset.LATEST, 5, 0, 90, NOW) is None
    assert follower.next_request(10, NOW) is AskOffset.EARLIEST
    assert follower.on_offset(AskOffset.EARLIEST, 5, 0, 50, NOW) == RestartAt(50)


def test_an_offset_that_is_in_range_after_all_is_fetched_again_later() -> None:
    log = log_view((5, 0), end=10)
    follower = out_of_range(log)
    follower.on_offset(AskOffset.LATEST, 5, 0, 90, NOW)
    assert follower.on_offset(AskOffset.EARLIEST, 5, 0, 10, NOW) is None
    assert follower.next_request(10, NOW) is None
    assert isinstance(follower.next_request(10, NOW + BACKOFF_MS), FetchFrom)


def test_late_or_failed_answers_about_offsets_cut_nothing() -> None:
    log = log_view((5, 0), end=10)
    follower = out_of_range(log)
    assert follower.on_offset(AskOffset.EARLIEST, 5, 0, 50, NOW) is None
    assert follower.on_offset(AskOffset.LATEST, 4, 0, 0, NOW) is None
    error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert follower.on_offset(AskOffset.LATEST, 5, error, -1, NOW) is None
    assert isinstance(follower.next_request(10, NOW + BACKOFF_MS), FetchFrom)
    assert following(log).on_offset(AskOffset.LATEST, 5, 0, 0, NOW) is None
