"""Transaction records as batches of `__transaction_state`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.handlers.partition_journal import Batch
from penstock.records.builder import build_batch
from penstock.records.record import Record, iter_records
from penstock.transaction import RawRecord, TransactionRecord, encode_record, last_of_each_key


def encode_records(records: Sequence[TransactionRecord], now_ms: int) -> list[bytearray]:
    return [
        build_batch(
            [
                Record(index, now_ms, *encode_record(record), [])
                for index, record in enumerate(records)
            ]
        )
    ]


def decode_records(batches: Iterator[Batch]) -> Iterator[tuple[int, TransactionRecord]]:
    return last_of_each_key(_raw_records(batches))


def _raw_records(batches: Iterator[Batch]) -> Iterator[RawRecord]:
    for header, batch in batches:
        if header.is_control:
            continue
        for record in iter_records(batch):
            if record.key is not None:
                yield RawRecord(record.offset, record.key, record.value)
