"""Records through their bytes, and records that are not ours."""

from struct import pack

import pytest

from penstock.group import GroupRecord, decode_record, encode_record
from penstock.group.record import (
    group_metadata_record,
    group_tombstone,
    offset_commit_record,
    offset_tombstone,
)
from penstock.model.error import ProtocolError
from penstock.protocol.messages.records.consumer_group_member_metadata import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.group_metadata import GroupMetadataValue, MemberMetadata
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey, OffsetCommitValue

GROUP = GroupMetadataValue(
    protocol_type="consumer",
    generation=7,
    protocol="range",
    leader="a-1",
    current_state_timestamp=5,
    members=[MemberMetadata(member_id="a-1", group_instance_id="i", subscription=b"s")],
)
PLAIN = OffsetCommitValue(offset=9, leader_epoch=2, metadata="m", commit_timestamp=3)
WITH_ID = OffsetCommitValue(offset=9, commit_timestamp=3, topic_id=b"\7" * 16)
EXPIRING = OffsetCommitValue(offset=9, metadata="m", commit_timestamp=3, expire_timestamp=8)


@pytest.mark.parametrize(
    "record",
    [
        group_metadata_record("g", GROUP),
        group_metadata_record("g", GroupMetadataValue(protocol=None, leader=None)),
        group_tombstone("g"),
        offset_commit_record("g", "t", 3, PLAIN),
        offset_commit_record("g", "t", 3, WITH_ID),
        offset_commit_record("g", "t", 3, EXPIRING),
        offset_tombstone("g", "t", 3),
    ],
)
def test_round_trip(record: GroupRecord) -> None:
    data = encode_record(record)
    assert decode_record(data.key, data.value) == record


def test_bytes_are_kafkas() -> None:
    data = encode_record(offset_commit_record("g", "t", 3, EXPIRING))
    assert data.key == b"\0\1\0\1g\0\1t\0\0\0\3"
    assert data.value == b"\0\1" + pack(">q", 9) + b"\0\1m" + pack(">qq", 3, 8)


KAFKAS_KEY = b"\0\5\0\1g\0\1m"
KAFKAS_MEMBER = (
    b"\0\0"  # the value's version
    b"\0\0\x08rdkafka\x0b/127.0.0.1\2\7orders\1\0\4\x93\xe0\0"
    b"\1\0\1\0"  # tag 0, of one byte: no member of the classic protocol
)


def test_a_member_of_kafkas_coordinator_is_read_and_written_alike() -> None:
    """Kafka takes a member without the tag for one of the classic protocol."""
    record = decode_record(KAFKAS_KEY, KAFKAS_MEMBER)
    assert record is not None
    assert isinstance(record.value, ConsumerGroupMemberMetadataValue)
    assert record.value.classic_member_metadata is None
    data = encode_record(record)
    assert (data.key, data.value) == (KAFKAS_KEY, KAFKAS_MEMBER)


def test_a_member_written_without_the_tag_is_none_of_the_classic_protocol() -> None:
    record = decode_record(KAFKAS_KEY, KAFKAS_MEMBER[:-4] + b"\0")
    assert record is not None
    assert isinstance(record.value, ConsumerGroupMemberMetadataValue)
    assert record.value.classic_member_metadata is None


def test_a_member_of_the_classic_protocol_comes_back() -> None:
    classic = ClassicMemberMetadata(
        session_timeout_ms=9, supported_protocols=[ClassicProtocol(name="range", metadata=b"x")]
    )
    for each in (classic, ClassicMemberMetadata()):
        value = ConsumerGroupMemberMetadataValue(classic_member_metadata=each)
        data = encode_record(
            GroupRecord(ConsumerGroupMemberMetadataKey(group_id="g", member_id="m"), value)
        )
        record = decode_record(data.key, data.value)
        assert record is not None and record.value == value


def test_the_producer_comes_from_the_batch() -> None:
    data = encode_record(offset_commit_record("g", "t", 3, PLAIN, 42, 1))
    record = decode_record(data.key, data.value, 42, 1)
    assert record is not None
    assert (record.producer_id, record.producer_epoch) == (42, 1)


def test_keys_of_the_first_kind_are_offsets_too() -> None:
    record = decode_record(b"\0\0\0\1g\0\1t\0\0\0\3", None)
    assert record == GroupRecord(OffsetCommitKey(group="g", topic="t", partition=3), None)


@pytest.mark.parametrize("key", [b"\0\x7f\0\1g", b"\x7f\0whatever"])
def test_unknown_records_are_skipped(key: bytes) -> None:
    assert decode_record(key, b"\0\0anything") is None


@pytest.mark.parametrize("key", [b"", b"\0", b"\0\0\0\5g"])
def test_a_broken_key_is_an_error(key: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_record(key, b"\0\0anything")


def test_a_broken_value_is_an_error() -> None:
    data = encode_record(group_metadata_record("g", GROUP))
    assert data.value is not None
    with pytest.raises(ProtocolError):
        decode_record(data.key, data.value[:-1])
