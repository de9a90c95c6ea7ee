"""The checker is itself checked: it accepts a good log and names each planted fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.durability.checker import Cleanup, Found, Reading, check
from tools.durability.churn import Fate, judge
from tools.durability.dump import bad_lines
from tools.durability.ledger import Identity, Lane, Ledger, key_of, parse, payload

LANE = Lane("one", "t", 0)
OTHER = Lane("two", "t", 0)


def record(lane: Lane, number: int, offset: int) -> Found:
    key = key_of(Identity(lane.producer, number))
    return Found(offset, key, payload(lane, number, 100))


@pytest.fixture
def ledger() -> Ledger:
    """Two producers, ten records each, all acknowledged at alternating offsets."""
    ledger = Ledger()
    for index in range(20):
        lane = (LANE, OTHER)[index % 2]
        ledger.acknowledge(lane, ledger.send(lane), index)
    return ledger


@pytest.fixture
def good() -> Reading:
    records = [record((LANE, OTHER)[index % 2], index // 2, index) for index in range(20)]
    return Reading("t", 0, 0, 20, records)


def kinds(reading: Reading, ledger: Ledger, cleanup: Cleanup = Cleanup.NOTHING) -> set[str]:
    return {violation.kind for violation in check(reading, ledger, cleanup)}


def renumber(records: list[Found]) -> list[Found]:
    return [found._replace(offset=offset) for offset, found in enumerate(records)]


def test_a_whole_log_passes(good: Reading, ledger: Ledger) -> None:
    assert check(good, ledger, Cleanup.NOTHING) == []


def test_an_acknowledged_record_removed_from_the_middle(good: Reading, ledger: Ledger) -> None:
    records = [*good.records[:7], *good.records[8:]]
    assert kinds(replace(good, records=records), ledger) == {"lost", "gap"}


def test_an_acknowledged_record_removed_and_the_rest_moved_up(
    good: Reading, ledger: Ledger
) -> None:
    records = renumber([*good.records[:7], *good.records[8:]])
    assert "lost" in kinds(replace(good, records=records, end=19), ledger)


def test_the_acknowledged_tail_cut_off(good: Reading, ledger: Ledger) -> None:
    assert kinds(replace(good, records=good.records[:18], end=18), ledger) == {"lost"}


def test_a_tail_that_is_promised_but_not_served(good: Reading, ledger: Ledger) -> None:
    reading = replace(good, records=good.records[:18])
    assert kinds(reading, ledger) == {"lost", "gap"}


def test_a_record_stored_twice(good: Reading, ledger: Ledger) -> None:
    records = [*good.records, good.records[4]._replace(offset=20)]
    assert "duplicated" in kinds(replace(good, records=records, end=21), ledger)


def test_an_unacknowledged_record_stored_twice(good: Reading, ledger: Ledger) -> None:
    number = ledger.send(LANE)
    records = [*good.records, record(LANE, number, 20), record(LANE, number, 21)]
    assert kinds(replace(good, records=records, end=22), ledger) == {"duplicated"}


@pytest.mark.parametrize("present", [True, False])
def test_an_unacknowledged_record_may_be_there_once_or_not(
    good: Reading, ledger: Ledger, present: bool
) -> None:
    number = ledger.send(LANE)
    extra = [record(LANE, number, 20)] if present else []
    reading = replace(good, records=[*good.records, *extra], end=20 + len(extra))
    assert check(reading, ledger, Cleanup.NOTHING) == []


def test_two_records_of_one_producer_swapped(good: Reading, ledger: Ledger) -> None:
    records = list(good.records)
    records[4], records[6] = records[6]._replace(offset=4), records[4]._replace(offset=6)
    assert kinds(replace(good, records=records), ledger) == {"reordered", "misplaced"}


def test_an_unacknowledged_record_overtaken(good: Reading, ledger: Ledger) -> None:
    first, second = ledger.send(LANE), ledger.send(LANE)
    records = [*good.records, record(LANE, second, 20), record(LANE, first, 21)]
    assert kinds(replace(good, records=records, end=22), ledger) == {"reordered"}


def test_a_record_at_another_offset_than_acknowledged(good: Reading, ledger: Ledger) -> None:
    ledger.acknowledged[OTHER][9] = 25
    assert kinds(good, ledger) == {"misplaced"}


@pytest.mark.parametrize("value", [b"", b"no such words", b"one 3 t-0 tampered"])
def test_bytes_that_nobody_sent(good: Reading, ledger: Ledger, value: bytes) -> None:
    records = list(good.records)
    records[6] = records[6]._replace(value=value)
    assert "foreign" in kinds(replace(good, records=records), ledger)


def test_a_record_of_another_partition(good: Reading, ledger: Ledger) -> None:
    stray = Found(20, None, payload(LANE._replace(partition=1), 3, 100))
    reading = replace(good, records=[*good.records, stray], end=21)
    assert "foreign" in kinds(reading, ledger)


def test_a_record_that_was_never_sent(good: Reading, ledger: Ledger) -> None:
    reading = replace(good, records=[*good.records, record(LANE, 10, 20)], end=21)
    assert kinds(reading, ledger) == {"foreign"}


def test_offsets_that_go_back(good: Reading, ledger: Ledger) -> None:
    records = [*good.records[:19], good.records[19]._replace(offset=18)]
    assert "gap" in kinds(replace(good, records=records), ledger)


def test_retention_may_take_only_what_lies_before_the_start(good: Reading, ledger: Ledger) -> None:
    kept = replace(good, start=6, records=good.records[6:])
    assert check(kept, ledger, Cleanup.OLD_SEGMENTS) == []
    assert kinds(replace(kept, start=5), ledger, Cleanup.OLD_SEGMENTS) == {"lost", "gap"}


def test_compaction_may_take_only_what_a_later_value_replaced() -> None:
    ledger = Ledger()
    for offset in range(50):
        ledger.acknowledge(LANE, ledger.send(LANE), offset)
    # Forty keys per lane: the last ten records replace the first ten.
    compacted = [record(LANE, offset, offset) for offset in range(10, 50)]
    reading = Reading("t", 0, 0, 50, compacted)
    assert check(reading, ledger, Cleanup.OLDER_VALUES) == []
    without_eleventh = replace(reading, records=compacted[1:])
    assert kinds(without_eleventh, ledger, Cleanup.OLDER_VALUES) == {"lost"}
    without_last = replace(reading, records=compacted[:-1])
    assert kinds(without_last, ledger, Cleanup.OLDER_VALUES) == {"lost"}


def test_a_payload_says_who_sent_it() -> None:
    assert parse(payload(LANE, 12, 50)) == Identity("one", 12)
    assert len(payload(LANE, 12, 50)) == 50
    assert parse(b"one x y") is None


def test_acknowledged_topic_changes_must_hold() -> None:
    fates = {
        "churn-0": Fate(1, created=True),
        "churn-1": Fate(2, created=True, deletion_asked=True, deleted=True),
        "churn-2": Fate(3, created=True, deletion_asked=True),
        "churn-3": Fate(1),
    }
    assert list(judge(fates, {"churn-0": 1, "unrelated": 3})) == []
    assert list(judge(fates, {"churn-0": 1, "churn-2": 3, "churn-3": 1})) == []
    wrong = [{}, {"churn-0": 2}, {"churn-0": 1, "churn-1": 2}, {"churn-0": 1, "churn-9": 1}]
    assert [len(list(judge(fates, listed))) for listed in wrong] == [1, 1, 1, 1]


def test_what_dump_log_segments_complains_about() -> None:
    good = ["Dumping a-0/invalid.log", "Log starting offset: 0", "a.index passed sanity check."]
    assert list(bad_lines(good)) == []
    assert len(list(bad_lines(["Mismatches in :a.index", "  Index offset: 3"]))) == 1
