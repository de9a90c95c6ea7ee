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


def raw(offset: int, entry: GroupEntry) -> RawRecord | RawTxnRecord | tuple[int, TxnMarker]:
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
    return shard.roster.stored(), offsets, pending


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
    short = list(last_of_each_key(raw(offset, entry) for offset, entry in numbered))
    assert state(short) == state(numbered)


def test_only_the_last_is_decoded() -> None:
    commits = [
        offset_commit_record("g", "t", number % 3, OffsetCommitValue(offset=number))
        for number in range(30)
    ]
    short = list(last_of_each_key(raw(*one) for one in enumerate(commits)))
    assert [offset for offset, _ in short] == [27, 28, 29]


def test_records_of_another_kind_are_left_out() -> None:
    data = encode_record(offset_commit_record("g", "t", 0, OffsetCommitValue()))
    log = [RawRecord(0, b"\x7f\0", b"?"), RawRecord(1, data.key, data.value)]
    ((offset, record),) = last_of_each_key(log)
    assert offset == 1
    assert isinstance(record, GroupRecord)
