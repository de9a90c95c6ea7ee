"""Turning records and a reply into one decision that takes effect whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from penstock.controller.config import ControllerConfig
from penstock.machine.decision import Decision
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.records.begin_transaction_record import BeginTransactionRecord
from penstock.protocol.messages.records.end_transaction_record import EndTransactionRecord

ReplyT = TypeVar("ReplyT")
Outcome = Decision[MetadataRecord, ReplyT]

ChargePartitions = Callable[[int], None]
"""Partitions about to be made or deleted, for the quota of whoever asks; ApiError if it is used
up."""


def charge_nobody(partition_count: int) -> None:
    """Of a request that is held to no quota."""


class RequestTooLarge(ApiError):
    """Whatever of it may be right: nothing of it is done."""

    def __init__(self) -> None:
        super().__init__(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


def conclude(
    config: ControllerConfig, records: Sequence[MetadataRecord], reply: ReplyT
) -> Decision[MetadataRecord, ReplyT]:
    if len(records) <= config.records_per_batch_max:
        return Decision(records, reply)
    return Decision([BeginTransactionRecord(), *records, EndTransactionRecord()], reply)


def check_partition_count(config: ControllerConfig, count: int) -> None:
    """Before the records are built: a request may name two thousand million partitions."""
    if count > config.partitions_per_request_max:
        raise RequestTooLarge
