"""The records of `__share_group_state`, as the shard writes and replays them and as bytes."""

from __future__ import annotations

from typing import NamedTuple

from penstock.model.error import ProtocolError
from penstock.protocol.messages.records import share_snapshot, share_update
from penstock.protocol.messages.records.share_snapshot import (
    ShareSnapshotKey,
    ShareSnapshotValue,
)
from penstock.protocol.messages.records.share_update import ShareUpdateKey, ShareUpdateValue
from penstock.protocol.record_frame import (
    CoordinatorLog,
    UnknownRecordType,
    decode_coordinator_key,
    decode_coordinator_value,
    encode_coordinator_key,
    encode_coordinator_value,
)
from penstock.protocol.wire import Buffer
from penstock.share.batch import StateBatch
from penstock.share.kept import KeptState
from penstock.share.key import ShareKey


class ShareRecord(NamedTuple):
    """A snapshot is all that is known, an update what has changed since. No value: it is gone."""

    key: ShareSnapshotKey | ShareUpdateKey
    value: ShareSnapshotValue | ShareUpdateValue | None

    @property
    def share_key(self) -> ShareKey:
        return ShareKey(self.key.group_id, bytes(self.key.topic_id), self.key.partition)


def snapshot_record(key: ShareKey, state: KeptState) -> ShareRecord:
    return ShareRecord(
        ShareSnapshotKey(**key._asdict()),
        ShareSnapshotValue(
            snapshot_epoch=state.snapshot_epoch,
            state_epoch=state.state_epoch,
            leader_epoch=state.leader_epoch,
            start_offset=state.start_offset,
            delivery_complete_count=state.done_count,
            create_timestamp=state.created_ms,
            write_timestamp=state.written_ms,
            state_batches=[
                share_snapshot.StateBatch(
                    first_offset=one.first,
                    last_offset=one.last,
                    delivery_state=one.state,
                    delivery_count=one.deliveries,
                )
                for one in state.batches
            ],
        ),
    )


def update_record(key: ShareKey, state: KeptState) -> ShareRecord:
    """`state` has only the batches that have changed."""
    return ShareRecord(
        ShareUpdateKey(**key._asdict()),
        ShareUpdateValue(
            snapshot_epoch=state.snapshot_epoch,
            leader_epoch=state.leader_epoch,
            start_offset=state.start_offset,
            delivery_complete_count=state.done_count,
            state_batches=[
                share_update.StateBatch(
                    first_offset=one.first,
                    last_offset=one.last,
                    delivery_state=one.state,
                    delivery_count=one.deliveries,
                )
                for one in state.batches
            ],
        ),
    )


def tombstone(key: ShareKey) -> ShareRecord:
    return ShareRecord(ShareSnapshotKey(**key._asdict()), None)


def kept_of(value: ShareSnapshotValue) -> KeptState:
    return KeptState(
        snapshot_epoch=value.snapshot_epoch,
        state_epoch=value.state_epoch,
        leader_epoch=value.leader_epoch,
        start_offset=value.start_offset,
        done_count=value.delivery_complete_count,
        created_ms=value.create_timestamp,
        written_ms=value.write_timestamp,
        batches=batches_of(value.state_batches),
    )


def batches_of(
    stored: list[share_snapshot.StateBatch] | list[share_update.StateBatch],
) -> tuple[StateBatch, ...]:
    return tuple(
        StateBatch(one.first_offset, one.last_offset, one.delivery_state, one.delivery_count)
        for one in stored
    )


# --- bytes ---


def encode_record(record: ShareRecord) -> tuple[bytes, bytes | None]:
    value = record.value
    encoded = None if value is None else encode_coordinator_value(value)
    return encode_coordinator_key(record.key), encoded


def decode_record(key: Buffer, value: Buffer | None) -> ShareRecord | None:
    """None for a type of record that is not ours to know: a newer release may have written it."""
    try:
        decoded = decode_coordinator_key(CoordinatorLog.SHARE, key)
    except UnknownRecordType:
        return None
    if not isinstance(decoded, ShareSnapshotKey | ShareUpdateKey):
        return None
    if value is None:
        return ShareRecord(decoded, None)
    found = decode_coordinator_value(CoordinatorLog.SHARE, decoded, value)
    if not isinstance(found, ShareSnapshotValue | ShareUpdateValue):
        raise ProtocolError(f"{found.NAME} under {decoded.NAME}")
    return ShareRecord(decoded, found)
