"""The history checker finds each planted fault, and nothing in histories that are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.model.id import TopicPartition
from penstock.testing.history import (
    Assign,
    Begin,
    Commit,
    End,
    Event,
    Fault,
    Outcome,
    Poll,
    Produce,
    Recorder,
    Seen,
    check,
    load,
)

ONE, TWO = TopicPartition("orders", 0), TopicPartition("orders", 1)
OK, FAILED, UNKNOWN = Outcome.OK, Outcome.FAILED, Outcome.UNKNOWN


def produce(
    value: str,
    offset: int | None,
    outcome: Outcome = OK,
    *,
    where: TopicPartition = ONE,
    transaction: str | None = None,
    process: str = "producer",
) -> Produce:
    return Produce(
        process=process,
        partition=where,
        value=value,
        outcome=outcome,
        offset=offset,
        transaction=transaction,
    )


def end(transaction: str, outcome: Outcome = OK, *, commit: bool = True) -> End:
    return End(process="producer", transaction=transaction, commit=commit, outcome=outcome)


def poll(
    *records: tuple[int, str],
    where: TopicPartition = ONE,
    process: str = "reader",
    at_end: bool = False,
    committed_only: bool = True,
) -> Poll:
    return Poll(
        process=process,
        partition=where,
        records=tuple(Seen(*record) for record in records),
        at_end=at_end,
        committed_only=committed_only,
    )


def faults(*events: Event) -> set[Fault]:
    return {violation.fault for violation in check(events)}


WRITES = [produce(value, offset) for offset, value in enumerate("abcd")]


def test_every_record_once_and_in_order_is_right() -> None:
    whole = poll((0, "a"), (1, "b"), (2, "c"), (3, "d"), at_end=True)
    assert check([*WRITES, whole]) == []


def test_nothing_is_lost_that_no_reader_has_come_to() -> None:
    assert check([*WRITES, poll((0, "a"), (1, "b"))]) == []
    assert check([poll(at_end=True), *WRITES]) == []


@pytest.mark.parametrize("committed_only", [True, False])
def test_an_acknowledged_write_that_readers_passed(committed_only: bool) -> None:
    seen = poll((0, "a"), (2, "c"), committed_only=committed_only)
    assert faults(*WRITES, seen) == {Fault.LOST}


def test_an_acknowledged_tail_that_is_not_there() -> None:
    assert faults(*WRITES, poll((0, "a"), (1, "b"), (2, "c"), at_end=True)) == {Fault.LOST}


def test_an_acknowledged_write_of_unknown_offset_that_is_not_there() -> None:
    assert faults(produce("a", None), poll(at_end=True)) == {Fault.LOST}


def test_a_record_that_was_seen_and_is_gone_from_the_end_has_vanished() -> None:
    first = poll(*enumerate("abcd"), process="watcher")
    later = poll((0, "a"), (1, "b"), process="reader", at_end=True)
    assert faults(*WRITES, first, later) == {Fault.VANISHED}
    assert faults(*WRITES, first, poll(process="reader", at_end=True)) == set()


def test_what_is_seen_beyond_an_end_that_was_found_before_is_new() -> None:
    early = poll((0, "a"), (1, "b"), process="reader", at_end=True)
    assert (
        faults(*WRITES[:2], early, *WRITES[2:], poll(*enumerate("abcd"), process="watcher"))
        == set()
    )


def test_records_that_did_not_commit_are_not_missed_at_the_end() -> None:
    open_still = poll((0, "a"), (1, "b"), process="watcher", committed_only=False)
    history = [produce("a", 0), produce("b", 1, transaction="t"), open_still]
    assert faults(*history, poll((0, "a"), at_end=True)) == set()
    assert faults(produce("a", None), poll((5, "a"), at_end=True)) == set()


@pytest.mark.parametrize("there", [True, False])
def test_an_unknown_write_may_be_there_or_not(there: bool) -> None:
    seen = [(4, "e")] if there else []
    assert check([produce("e", None, UNKNOWN), poll(*seen, at_end=True)]) == []


def test_a_write_that_failed_is_seen() -> None:
    seen = poll((0, "a"), committed_only=False)
    assert faults(produce("a", None, FAILED), seen) == {Fault.ABORTED_READ}


def test_a_later_note_counts() -> None:
    asked, done = produce("a", None, UNKNOWN), produce("a", 0)
    assert faults(asked, done, poll(at_end=True)) == {Fault.LOST}


@pytest.mark.parametrize(
    "ending",
    [
        [end("t", commit=False)],
        [end("t", UNKNOWN, commit=False)],
        [end("t", UNKNOWN), end("t", FAILED)],
        [],
    ],
)
def test_a_transaction_that_did_not_commit_is_seen(ending: list[Event]) -> None:
    begin = Begin(process="producer", transaction="t")
    history = [begin, produce("a", 0, transaction="t"), *ending]
    assert faults(*history, poll((0, "a"))) == {Fault.ABORTED_READ}
    assert faults(*history, poll((0, "a"), committed_only=False)) == set()
    assert faults(*history, poll(at_end=True)) == set()


def halves(outcome: Outcome) -> list[Event]:
    return [
        produce("a", 0, transaction="t"),
        produce("b", 0, transaction="t", where=TWO),
        end("t", outcome),
    ]


@pytest.mark.parametrize("offset", [0, None])
def test_a_torn_transaction_of_unknown_end(offset: int | None) -> None:
    history = [
        replace(event, offset=offset) if isinstance(event, Produce) else event
        for event in halves(UNKNOWN)
    ]
    whole = [poll((0, "a")), poll((0, "b"), where=TWO, at_end=True)]
    assert faults(*history, *whole) == set()
    assert faults(*history, poll(at_end=True), poll(where=TWO, at_end=True)) == set()
    assert faults(*history, poll((0, "a")), poll(where=TWO, at_end=True)) == {Fault.TORN}


def test_half_of_a_committed_transaction_is_lost_as_well_as_torn() -> None:
    seen = [poll((0, "a")), poll(where=TWO, at_end=True)]
    assert faults(*halves(OK), *seen) == {Fault.TORN, Fault.LOST}


def test_tries_of_one_value_are_told_apart_by_what_the_record_carries() -> None:
    first = [produce("a", None, UNKNOWN, transaction="t"), end("t", UNKNOWN)]
    second = [produce(value, None, transaction="u") for value in "ab"]
    second.append(end("u"))
    seen = [Seen(0, "a", "t"), Seen(2, "b", "u")]
    history = [*first, *second]
    mixed = Poll(process="reader", partition=ONE, records=tuple(seen), at_end=True)
    assert faults(*history, mixed) == {Fault.LOST, Fault.TORN}
    good = replace(mixed, records=(Seen(1, "a", "u"), Seen(2, "b", "u")))
    assert faults(*history, good) == set()


def test_a_value_stored_twice() -> None:
    seen = poll((0, "a"), (1, "b"), (2, "c"), (3, "d"), (4, "a"))
    assert faults(*WRITES, seen) == {Fault.DUPLICATE}


def test_a_value_in_two_partitions() -> None:
    tries = [produce("a", 0, transaction="t"), end("t")]
    tries += [produce("a", 7, transaction="u", where=TWO), end("u")]
    assert faults(*tries, poll((0, "a")), poll((7, "a"), where=TWO)) == {Fault.DUPLICATE}


def test_a_consumer_that_skips_what_another_got() -> None:
    other = poll((0, "a"), (1, "b"), (2, "c"), process="other")
    assert faults(*WRITES, poll((0, "a"), (2, "c")), other) == {Fault.SKIPPED}
    assert faults(*WRITES, poll((0, "a")), poll((2, "c")), other) == {Fault.SKIPPED}


def test_a_consumer_that_skips_from_where_it_was_put() -> None:
    start = Assign(process="reader", partition=ONE, position=0)
    other = poll((0, "a"), (1, "b"), process="other")
    assert faults(*WRITES, start, poll((1, "b")), other) == {Fault.SKIPPED}
    assert faults(*WRITES, replace(start, position=1), poll((1, "b")), other) == set()


def test_gaps_where_nothing_readable_is_known_are_no_skip() -> None:
    history = [produce("x", 1, transaction="t"), end("t", commit=False)]
    assert faults(*history, produce("a", 0), produce("d", 3), poll((0, "a"), (3, "d"))) == set()


def test_a_consumer_that_goes_backwards() -> None:
    again = [poll((0, "a"), (1, "b")), poll((1, "b"))]
    assert faults(*WRITES, *again) == {Fault.BACKWARDS}
    moved = Assign(process="reader", partition=ONE, position=1)
    assert faults(*WRITES, again[0], moved, again[1]) == set()


def test_writes_of_one_producer_in_another_order() -> None:
    assert Fault.REORDERED in faults(produce("a", 1), produce("b", 0), poll((0, "b"), (1, "a")))
    unknown = [produce("a", None, UNKNOWN), produce("b", None, UNKNOWN)]
    assert faults(*unknown, poll((0, "b"), (1, "a"))) == {Fault.REORDERED}
    other = [unknown[0], replace(unknown[1], process="another")]
    assert faults(*other, poll((0, "b"), (1, "a"))) == set()


def test_two_values_at_one_offset() -> None:
    unknown = [produce("a", None, UNKNOWN), produce("b", None, UNKNOWN, process="another")]
    assert faults(*unknown, poll((0, "a")), poll((0, "b"), process="other")) == {Fault.DIVERGED}


def test_a_record_elsewhere_than_acknowledged() -> None:
    history = [produce("a", 0), produce("b", None, UNKNOWN, process="another")]
    assert Fault.DIVERGED in faults(*history, poll((0, "b"), (1, "a")))


def test_a_record_that_nobody_wrote() -> None:
    assert faults(poll((0, "a"))) == {Fault.FOREIGN}


def commit(offset: int, outcome: Outcome = OK, transaction: str | None = None) -> Commit:
    return Commit(
        process="reader",
        group="g",
        partition=ONE,
        offset=offset,
        outcome=outcome,
        transaction=transaction,
    )


def start(position: int | None) -> Assign:
    return Assign(process="next", partition=ONE, position=position, group="g")


@pytest.mark.parametrize(
    ("history", "right", "wrong"),
    [
        ([], [None], [0, 5]),
        ([commit(5)], [5], [None, 4]),
        ([commit(5), commit(9)], [9], [None, 5]),
        ([commit(5), commit(9, UNKNOWN)], [5, 9], [None]),
        ([commit(5), commit(9, FAILED)], [5], [None, 9]),
        ([commit(5, OK, "t"), end("t")], [5], [None]),
        ([commit(5, OK, "t"), end("t", UNKNOWN)], [5, None], [4]),
        ([commit(5, OK, "t"), end("t", commit=False)], [None], [5]),
        ([commit(5, OK, "t")], [None], [5]),
    ],
)
def test_where_a_group_may_start(
    history: Sequence[Event], right: list[int | None], wrong: list[int | None]
) -> None:
    for position in right:
        assert faults(*history, start(position)) == set()
    for position in wrong:
        assert faults(*history, start(position)) == {Fault.STALE_OFFSET}


def test_a_commit_under_way_while_the_group_starts() -> None:
    late = replace(commit(9), began_s=2.0, ended_s=4.0)
    early = replace(commit(5), began_s=1.0, ended_s=1.5)
    meanwhile = replace(start(5), began_s=3.0, ended_s=3.5)
    assert faults(early, late, meanwhile) == set()
    assert faults(early, late, replace(meanwhile, position=9)) == set()
    afterwards = replace(meanwhile, began_s=5.0, ended_s=5.0)
    assert faults(early, late, afterwards) == {Fault.STALE_OFFSET}


def test_a_history_in_a_file_with_its_last_line_cut(tmp_path: Path) -> None:
    path = tmp_path / "history"
    events = [*WRITES, Begin(process="p", transaction="t"), end("t", UNKNOWN), commit(3), start(3)]
    events += [poll((0, "a"), at_end=True)]
    with Recorder(path) as recorder:
        recorder.note(*events)
    with open(path, "ab") as file:
        file.write(b'{"event":"end","pro')
    assert list(load([path])) == events
