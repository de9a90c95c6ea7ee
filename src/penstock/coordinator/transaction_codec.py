"""Transaction records as batches of `__transaction_state`."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from penstock.coordinator.journal import readable_pairs
from penstock.coordinator.passed_over import PassedOver
from penstock.coordinator.segment_reader import Batch
from penstock.records.plain import build_plain_batch
from penstock.transaction import RawRecord, TransactionRecord, encode_record, last_of_each_key


def encode_records(records: Sequence[TransactionRecord], now_ms: int) -> list[bytearray]:
    return [build_plain_batch([encode_record(record) for record in records], now_ms)]


def decode_records(
    batches: Iterator[Batch], passed: PassedOver, doubtful: Container[bytes]
) -> Iterator[tuple[int, TransactionRecord]]:
    return last_of_each_key(_raw_records(batches, passed), passed.record, doubtful)


def _raw_records(batches: Iterator[Batch], passed: PassedOver) -> Iterator[RawRecord]:
    for header, batch in batches:
        if header.is_control:
            continue
        for offset, key, value in readable_pairs((header, batch), passed):
            if key is not None:
                yield RawRecord(offset, key, value)
