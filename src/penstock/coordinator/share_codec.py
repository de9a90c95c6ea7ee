"""Records of share state as batches of `__share_group_state`."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from penstock.coordinator.journal import readable_pairs
from penstock.coordinator.passed_over import PassedOver
from penstock.coordinator.segment_reader import Batch
from penstock.model.error import ProtocolError
from penstock.records.plain import build_plain_batch
from penstock.share import ShareRecord, decode_record, encode_record


def encode_records(records: Sequence[ShareRecord], now_ms: int) -> list[bytearray]:
    return [build_plain_batch([encode_record(record) for record in records], now_ms)]


def decode_records(
    batches: Iterator[Batch], passed: PassedOver, doubtful: Container[bytes]
) -> Iterator[tuple[int, ShareRecord]]:
    """Every one of them: an update counts on top of what came before it."""
    for header, batch in batches:
        if header.is_control:
            continue
        for offset, key, value in readable_pairs((header, batch), passed):
            record = None if key is None else _decoded(offset, key, value, passed)
            if record is not None:
                yield offset, record


def _decoded(
    offset: int, key: bytes, value: bytes | None, passed: PassedOver
) -> ShareRecord | None:
    try:
        record = decode_record(key, value)
    except ProtocolError as error:
        passed.record(offset, key, error)
        return None
    if record is None:
        passed.record(offset, key, None)
    return record
