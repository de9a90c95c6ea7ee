"""Group records as the key and value bytes of log records."""

from __future__ import annotations

from typing import NamedTuple, cast

from penstock.group.record import NO_PRODUCER, GroupKey, GroupRecord, GroupValue
from penstock.model.error import ProtocolError
from penstock.protocol.entity import Entity
from penstock.protocol.messages.records.legacy_offset_commit import LegacyOffsetCommitKey
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey
from penstock.protocol.record_frame import (
    CoordinatorLog,
    UnknownRecordType,
    decode_coordinator_key,
    decode_coordinator_value,
    encode_coordinator_key,
    encode_coordinator_value,
)
from penstock.protocol.wire import Buffer


class RecordBytes(NamedTuple):
    key: bytes
    value: bytes | None


# A named tuple straight from a tuple: half the cost of calling the class.
_as_bytes = tuple.__new__


def encode_record(record: GroupRecord) -> RecordBytes:
    """The producer, if any, is the batch's to tell."""
    key = encode_coordinator_key(record.key)
    value = record.value
    encoded = None if value is None else encode_coordinator_value(value, record.value_version)
    return _as_bytes(RecordBytes, (key, encoded))


def decode_record(
    key: Buffer, value: Buffer | None, producer_id: int = NO_PRODUCER, producer_epoch: int = -1
) -> GroupRecord | None:
    """None for a type of record that is not ours to know: a newer release may have written it."""
    try:
        decoded_key = decode_coordinator_key(CoordinatorLog.GROUP, key)
    except UnknownRecordType:
        return None
    if isinstance(decoded_key, LegacyOffsetCommitKey):
        decoded_key = OffsetCommitKey(
            group=decoded_key.group, topic=decoded_key.topic, partition=decoded_key.partition
        )
    if not isinstance(decoded_key, GroupKey) and not _is_of_streams(decoded_key):
        return None
    if value is None:
        return GroupRecord(cast(GroupKey, decoded_key), None, 0, producer_id, producer_epoch)
    version = int.from_bytes(bytes(value[:2]), "big")
    decoded = decode_coordinator_value(CoordinatorLog.GROUP, decoded_key, value)
    if not isinstance(decoded, GroupValue) and not _is_of_streams(decoded):
        raise ProtocolError(f"{decoded.NAME} under {decoded_key.NAME}")
    return GroupRecord(
        cast(GroupKey, decoded_key),
        cast(GroupValue, decoded),
        version,
        producer_id,
        producer_epoch,
    )


def _is_of_streams(entity: Entity) -> bool:
    """By name: a log without streams groups does not load what tells of them."""
    return entity.NAME.startswith("StreamsGroup")
