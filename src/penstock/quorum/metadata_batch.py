"""Metadata records and the control records among them, as record batches.

Owns the framing of both directions. Touches no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from penstock.metadata.record import MetadataRecord
from penstock.metadata.version import record_version
from penstock.protocol.codec import encode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.records.snapshot_footer_record import SnapshotFooterRecord
from penstock.protocol.messages.records.snapshot_header_record import SnapshotHeaderRecord
from penstock.protocol.record_frame import decode_metadata_record, encode_metadata_record
from penstock.records.builder import build_batch
from penstock.records.control import (
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    control_key,
    control_kind,
)
from penstock.records.header import BatchHeader, Buffer
from penstock.records.plain import iter_pairs
from penstock.records.record import Record, iter_records

BATCH_BYTES_MAX = 8 << 20
"""What Kafka's own metadata log takes in one batch."""

Control = tuple[int, bytes]
"""Kind and encoded value."""


def encode_values(records: Iterable[MetadataRecord], level: int) -> Iterator[bytes]:
    for record in records:
        yield encode_metadata_record(record, record_version(record, level))


def pack_batches(
    values: Iterable[bytes], base_offset: int, epoch: int, timestamp_ms: int
) -> Iterator[bytearray]:
    """As few batches as the limit allows, offsets without a gap. One at a time: a snapshot may
    hold a million records."""
    for group in _groups(values):
        records = [
            Record(offset, timestamp_ms, None, value)
            for offset, value in enumerate(group, base_offset)
        ]
        yield build_batch(records, base_offset=base_offset, leader_epoch=epoch)
        base_offset += len(group)


def _groups(values: Iterable[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size = 0
    for value in values:
        if group and size + len(value) > BATCH_BYTES_MAX:
            yield group
            group, size = [], 0
        group.append(value)
        size += len(value) + _RECORD_OVERHEAD
    if group:
        yield group


_RECORD_OVERHEAD = 16


def pack_controls(
    controls: Sequence[Control], base_offset: int, epoch: int, timestamp_ms: int
) -> bytearray:
    records = [
        Record(offset, timestamp_ms, control_key(kind), value)
        for offset, (kind, value) in enumerate(controls, base_offset)
    ]
    return build_batch(records, base_offset=base_offset, leader_epoch=epoch, is_control=True)


def read_values(header: BatchHeader, batch: Buffer) -> list[tuple[int, MetadataRecord]]:
    """Nothing from a control batch: those are the log's own affair. A list, since a start goes
    through all of them and a batch holds few or is large once."""
    if header.is_control:
        return []
    return [
        (offset, decode_metadata_record(value or b""))
        for offset, _, value in iter_pairs(header, memoryview(batch))
    ]


def read_controls(header: BatchHeader, batch: Buffer) -> list[Control]:
    if not header.is_control:
        return []
    return [(control_kind(record.key), record.value or b"") for record in iter_records(batch)]


def snapshot_header(last_timestamp_ms: int) -> Control:
    message = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=last_timestamp_ms)
    return SNAPSHOT_HEADER, _encode(message)


def snapshot_footer() -> Control:
    return SNAPSHOT_FOOTER, _encode(SnapshotFooterRecord(version=0))


def _encode(message: Entity) -> bytes:
    return encode(message, 0)
