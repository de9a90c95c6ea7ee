"""Group records as batches of `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby

from penstock.coordinator.journal import readable_pairs
from penstock.coordinator.passed_over import PassedOver
from penstock.coordinator.segment_reader import Batch
from penstock.group import (
    NO_PRODUCER,
    GroupEntry,
    GroupRecord,
    RawRecord,
    RawTxnRecord,
    TxnMarker,
    encode_record,
    last_of_each_key,
)
from penstock.model.error import ApiError
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey
from penstock.records.control import build_end_marker, parse_end_marker
from penstock.records.header import parse_header
from penstock.records.plain import Pair, build_plain_batch
from penstock.records.record import iter_records


def encode_entries(entries: Sequence[GroupEntry], now_ms: int) -> list[bytearray]:
    """One batch, or one for each producer where transactions are written."""
    first = entries[0]
    if len(entries) == 1 and isinstance(first, GroupRecord):
        # Nearly always: one commit of one partition, or one group as it is now.
        pairs = [encode_record(first)]
        return [build_plain_batch(pairs, now_ms, first.producer_id, first.producer_epoch)]
    batches: list[bytearray] = []
    for (producer_id, epoch), group in groupby(
        entries, key=lambda entry: (entry.producer_id, entry.producer_epoch)
    ):
        batches += _encode_of_producer(list(group), producer_id, epoch, now_ms)
    return batches


def encode_commits(entries: Sequence[GroupEntry]) -> list[Pair] | None:
    """Commits of offsets outside transactions, on which nothing depends but their own replies and
    later reads of them. Whatever else there is may move members or end transactions."""
    pairs: list[Pair] = []
    for entry in entries:
        if (
            isinstance(entry, TxnMarker)
            or type(entry.key) is not OffsetCommitKey
            or entry.producer_id != NO_PRODUCER
        ):
            return None
        pairs.append(encode_record(entry))
    return pairs


def _encode_of_producer(
    entries: list[GroupEntry], producer_id: int, epoch: int, now_ms: int
) -> Iterator[bytearray]:
    pairs: list[Pair] = []
    for entry in entries:
        if isinstance(entry, TxnMarker):
            yield build_end_marker(
                producer_id=producer_id,
                producer_epoch=epoch,
                commit=entry.committed,
                coordinator_epoch=entry.coordinator_epoch,
                timestamp=now_ms,
            )
            continue
        pairs.append(encode_record(entry))
    if pairs:
        yield build_plain_batch(pairs, now_ms, producer_id, epoch)


def decode_entries(
    batches: Iterator[Batch], passed: PassedOver, doubtful: Container[bytes]
) -> Iterator[tuple[int, GroupEntry]]:
    return last_of_each_key(_raw_entries(batches, passed), passed.record, doubtful)


def _raw_entries(
    batches: Iterator[Batch], passed: PassedOver
) -> Iterator[RawRecord | RawTxnRecord | tuple[int, TxnMarker]]:
    for header, batch in batches:
        if header.is_control:
            yield from _markers(header.producer_id, header.producer_epoch, batch, passed)
            continue
        producer_id, epoch = header.producer_id, header.producer_epoch
        is_transactional = header.is_transactional
        for offset, key, value in readable_pairs((header, batch), passed):
            if key is None:
                continue
            if is_transactional:
                yield RawTxnRecord(offset, key, value, producer_id, epoch)
            else:
                yield RawRecord(offset, key, value)


def _markers(
    producer_id: int, epoch: int, batch: memoryview, passed: PassedOver
) -> Iterator[tuple[int, TxnMarker]]:
    try:
        for record in iter_records(batch):
            marker = parse_end_marker(record)
            if marker is not None:
                yield record.offset, TxnMarker(producer_id, epoch, *marker)
    except ApiError as error:
        passed.batch(parse_header(batch).base_offset, error)
