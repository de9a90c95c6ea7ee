"""Transaction records as batches of `__transaction_state`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.handlers.partition_journal import Batch
from penstock.records.plain import build_plain_batch, iter_pairs
from penstock.transaction import RawRecord, TransactionRecord, encode_record, last_of_each_key


def encode_records(records: Sequence[TransactionRecord], now_ms: int) -> list[bytearray]:
    return [build_plain_batch([encode_record(record) for record in records], now_ms)]


def decode_records(batches: Iterator[Batch]) -> Iterator[tuple[int, TransactionRecord]]:
    return last_of_each_key(_raw_records(batches))


def _raw_records(batches: Iterator[Batch]) -> Iterator[RawRecord]:
    for header, batch in batches:
        if header.is_control:
            continue
        for offset, key, value in iter_pairs(header, batch):
            if key is not None:
                yield RawRecord(offset, key, value)
