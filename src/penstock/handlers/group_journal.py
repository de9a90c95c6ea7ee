"""Group records as batches of `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from penstock.group import (
    GroupEntry,
    RawRecord,
    RawTxnRecord,
    TxnMarker,
    encode_record,
    last_of_each_key,
)
from penstock.handlers.partition_journal import Batch
from penstock.records.builder import build_batch
from penstock.records.control import build_end_marker, parse_end_marker
from penstock.records.record import Record, iter_records

NO_PRODUCER = -1


def encode_entries(entries: Sequence[GroupEntry], now_ms: int) -> list[bytearray]:
    """One batch, or one for each producer where transactions are written."""
    batches: list[bytearray] = []
    for (producer_id, epoch), group in groupby(
        entries, key=lambda entry: (entry.producer_id, entry.producer_epoch)
    ):
        batches += _encode_of_producer(list(group), producer_id, epoch, now_ms)
    return batches


def _encode_of_producer(
    entries: list[GroupEntry], producer_id: int, epoch: int, now_ms: int
) -> Iterator[bytearray]:
    records: list[Record] = []
    for entry in entries:
        if isinstance(entry, TxnMarker):
            yield build_end_marker(
                producer_id=producer_id,
                producer_epoch=epoch,
                commit=entry.committed,
                coordinator_epoch=0,
                timestamp=now_ms,
            )
            continue
        key, value = encode_record(entry)
        records.append(Record(len(records), now_ms, key, value, []))
    if records:
        yield build_batch(
            records,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=-1,
            is_transactional=producer_id != NO_PRODUCER,
        )


def decode_entries(batches: Iterator[Batch]) -> Iterator[tuple[int, GroupEntry]]:
    return last_of_each_key(_raw_entries(batches))


def _raw_entries(
    batches: Iterator[Batch],
) -> Iterator[RawRecord | RawTxnRecord | tuple[int, TxnMarker]]:
    for header, batch in batches:
        if header.is_control:
            yield from _markers(header.producer_id, header.producer_epoch, batch)
            continue
        for record in iter_records(batch):
            if record.key is None:
                continue
            if header.is_transactional:
                yield RawTxnRecord(
                    record.offset,
                    record.key,
                    record.value,
                    header.producer_id,
                    header.producer_epoch,
                )
            else:
                yield RawRecord(record.offset, record.key, record.value)


def _markers(producer_id: int, epoch: int, batch: memoryview) -> Iterator[tuple[int, TxnMarker]]:
    for record in iter_records(batch):
        marker = parse_end_marker(record)
        if marker is not None:
            yield record.offset, TxnMarker(producer_id, epoch, marker.commit)
