"""Transactions and their coordinator, as a pure machine.

`TransactionShard` decides for one partition of `__transaction_state`. It never touches a clock, a
socket or a disk: time comes as an argument, new producer ids from a function, what shall be kept
goes out as records, and what shall be done elsewhere as `MarkerTask`s.
"""

from penstock.transaction.addition import Addition, AdditionResult
from penstock.transaction.addition_form import (
    additions,
    additions_echo,
    additions_request,
    additions_response,
    additions_results,
)
from penstock.transaction.completion import MarkerTask, marker_task
from penstock.transaction.config import TransactionConfig
from penstock.transaction.load import RawRecord, last_of_each_key
from penstock.transaction.record import TransactionRecord
from penstock.transaction.shard import TransactionShard
from penstock.transaction.transaction import Identity
from penstock.transaction.wire import RecordBytes, decode_record, encode_record

__all__ = [
    "Addition",
    "AdditionResult",
    "Identity",
    "MarkerTask",
    "RawRecord",
    "RecordBytes",
    "TransactionConfig",
    "TransactionRecord",
    "TransactionShard",
    "additions",
    "additions_echo",
    "additions_request",
    "additions_response",
    "additions_results",
    "decode_record",
    "encode_record",
    "last_of_each_key",
    "marker_task",
]
