"""Loading the last record of each key leads where loading all of them does."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from penstock.group import (
    GroupConfig,
    GroupEntry,
    GroupRecord,
    GroupShard,
    RawRecord,
    RawTxnRecord,
    TxnMarker,
    encode_record,
    last_of_each_key,
)
from penstock.group.record import (
    group_metadata_record,
    group_tombstone,
    offset_commit_record,
    offset_tombstone,
)
from penstock.protocol.messages.records.group_metadata import GroupMetadataValue
from penstock.protocol.messages.records.offset_commit import OffsetCommitValue

Raw = RawRecord | RawTxnRecord | tuple[int, TxnMarker]

groups = st.sampled_from(["g", "h"])
partitions = st.integers(0, 2)
values = st.builds(OffsetCommitValue, offset=st.integers(0, 99))
generations = st.builds(GroupMetadataValue, generation=st.integers(0, 9))
producers = st.sampled_from([7, 8])
entries = st.one_of(
    st.builds(offset_commit_record, groups, st.just("t"), partitions, values),
    st.builds(offset_commit_record, groups, st.just("t"), partitions, values, producers),
    st.builds(offset_tombstone, groups, st.just("t"), partitions),
    st.builds(group_metadata_record, groups, generations),
    st.builds(group_tombstone, groups),
    st.builds(TxnMarker, producers, st.just(0), st.booleans()),
)


def raw(offset: int, entry: GroupEntry) -> Raw:
    if isinstance(entry, TxnMarker):
        return offset, entry
    data = encode_record(entry)
    if entry.producer_id == -1:
        return RawRecord(offset, data.key, data.value)
    return RawTxnRecord(offset, data.key, data.value, entry.producer_id, entry.producer_epoch)


def state(log: list[tuple[int, GroupEntry]]) -> object:
    shard = GroupShard(GroupConfig(), lambda: "")
    for offset, entry in log:
        shard.replay(entry, offset)
    offsets = {one: dict(shard.store.of_group(one)) for one in shard.store.group_ids()}
    pending = {one: shard.store.pending_of_group(one) for one in shard.store.pending_group_ids()}
    return shard.classic_groups.stored(), offsets, pending


def unexpected(offset: int, key: bytes, why: object) -> None:
    raise AssertionError(f"the record at {offset} was passed over: {why}")


def loaded_past(log: list[Raw]) -> tuple[list[tuple[int, GroupEntry]], set[int]]:
    """As a host loads: once more if something could not be read. With what was passed over."""
    doubtful: set[bytes] = set()
    while True:
        passed: dict[int, bytes] = {}

        def note(offset: int, key: bytes, why: object, passed: dict[int, bytes] = passed) -> None:
            passed[offset] = key

        short = list(last_of_each_key(log, note, doubtful))
        if doubtful >= set(passed.values()):
            return short, set(passed)
        doubtful |= set(passed.values())


@given(st.lists(entries, max_size=30))
@example(
    [
        offset_commit_record("h", "t", 2, OffsetCommitValue(offset=0), 7),
        offset_tombstone("h", "t", 2),
        offset_commit_record("h", "t", 2, OffsetCommitValue(offset=0)),
    ]
)
def test_the_same_state(log: list[GroupEntry]) -> None:
    numbered = list(enumerate(log))
    short = list(last_of_each_key((raw(*one) for one in numbered), unexpected))
    assert state(short) == state(numbered)


@given(st.lists(st.tuples(entries, st.booleans()), max_size=30))
def test_what_cannot_be_read_is_as_if_it_were_not_there(log: list[tuple[GroupEntry, bool]]) -> None:
    """Also where the unreadable record is the last of its key, or of a tombstone's."""
    damaged: list[Raw] = []
    whole: list[tuple[int, GroupEntry]] = []
    for offset, (entry, is_damaged) in enumerate(log):
        one = raw(offset, entry)
        if is_damaged and not isinstance(one[1], TxnMarker) and one[2] is not None:
            one = one._replace(value=one[2][:-1])
        else:
            whole.append((offset, entry))
        damaged.append(one)
    short, _ = loaded_past(damaged)
    assert state(short) == state(whole)


def test_a_truncated_value_does_not_take_the_one_before_with_it() -> None:
    good = raw(0, offset_commit_record("g", "t", 0, OffsetCommitValue(offset=7)))
    assert isinstance(good, RawRecord)
    assert good.value is not None
    bad = [good._replace(offset=offset, value=good.value[:offset]) for offset in (1, 2, 3)]
    short, passed = loaded_past([good, *bad])
    assert [offset for offset, _ in short] == [0]
    assert passed == {1, 2, 3}


def test_only_the_last_is_decoded() -> None:
    commits = [
        offset_commit_record("g", "t", number % 3, OffsetCommitValue(offset=number))
        for number in range(30)
    ]
    short = list(last_of_each_key((raw(*one) for one in enumerate(commits)), unexpected))
    assert [offset for offset, _ in short] == [27, 28, 29]


def test_records_of_another_kind_are_left_out() -> None:
    data = encode_record(offset_commit_record("g", "t", 0, OffsetCommitValue()))
    log = [RawRecord(0, b"\x7f\0", b"?"), RawRecord(1, data.key, data.value)]
    short, passed = loaded_past(list(log))
    ((offset, record),) = short
    assert (offset, passed) == (1, {0})
    assert isinstance(record, GroupRecord)
