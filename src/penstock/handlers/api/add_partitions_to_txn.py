"""AddPartitionsToTxn: partitions that a transaction is about to write to."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.topology import INTERNAL_TOPICS
from penstock.handlers.transaction_call import add_partitions, known_partitions
from penstock.model.error import ErrorCode
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
)
from penstock.transaction import Addition, AdditionResult, additions, additions_response


def handle(broker: Broker, request: AddPartitionsToTxnRequest, call: Call) -> Answer:
    return _add_all(broker, request, call.version)


async def _add_all(
    broker: Broker, request: AddPartitionsToTxnRequest, version: int
) -> AddPartitionsToTxnResponse:
    results = [
        (addition.transactional_id, await _add(broker, addition))
        for addition in additions(request, version)
    ]
    return additions_response(results, version)


async def _add(broker: Broker, addition: Addition) -> AdditionResult:
    """One that cannot be added keeps all of them out, as a transaction is all or nothing."""
    known, unknown = known_partitions(broker, addition.partitions)
    internal = [one for one in known if one.topic in INTERNAL_TOPICS]
    if unknown or internal:
        return {
            **dict.fromkeys(known, ErrorCode.OPERATION_NOT_ATTEMPTED),
            **dict.fromkeys(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            **dict.fromkeys(internal, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        }
    return await add_partitions(broker, addition)
