"""Transaction records as the key and value bytes of log records."""

from __future__ import annotations

from typing import NamedTuple

from penstock.model.error import ProtocolError
from penstock.protocol.messages.records.transaction_log import (
    TransactionLogKey,
    TransactionLogValue,
)
from penstock.protocol.record_frame import (
    CoordinatorLog,
    UnknownRecordType,
    decode_coordinator_key,
    decode_coordinator_value,
    encode_coordinator_key,
    encode_coordinator_value,
)
from penstock.protocol.wire import Buffer
from penstock.transaction.record import TransactionRecord


class RecordBytes(NamedTuple):
    key: bytes
    value: bytes | None


def encode_record(record: TransactionRecord) -> RecordBytes:
    key = encode_coordinator_key(TransactionLogKey(transactional_id=record.transactional_id))
    if record.value is None:
        return RecordBytes(key, None)
    return RecordBytes(key, encode_coordinator_value(record.value, record.value_version))


def decode_record(key: Buffer, value: Buffer | None) -> TransactionRecord | None:
    """None for a type of record that is not ours to know: a newer release may have written it."""
    try:
        decoded_key = decode_coordinator_key(CoordinatorLog.TRANSACTION, key)
    except UnknownRecordType:
        return None
    if not isinstance(decoded_key, TransactionLogKey):
        return None
    if value is None:
        return TransactionRecord(decoded_key.transactional_id, None)
    version = int.from_bytes(bytes(value[:2]), "big")
    decoded = decode_coordinator_value(CoordinatorLog.TRANSACTION, decoded_key, value)
    if not isinstance(decoded, TransactionLogValue):
        raise ProtocolError(f"{decoded.NAME} under {decoded_key.NAME}")
    return TransactionRecord(decoded_key.transactional_id, decoded, version)
