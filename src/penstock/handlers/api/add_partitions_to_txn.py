"""AddPartitionsToTxn: partitions that a transaction is about to write to, as its producer or the
broker that leads them says."""

from __future__ import annotations

import asyncio

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.topology import INTERNAL_TOPICS
from penstock.handlers.transaction_call import add_partitions, known_partitions
from penstock.model.error import ErrorCode
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
)
from penstock.transaction import (
    Addition,
    AdditionResult,
    additions,
    additions_echo,
    additions_response,
)

FROM_BROKERS = 4


def handle(broker: Broker, request: AddPartitionsToTxnRequest, call: Call) -> Answer:
    return _add_all(broker, request, call.version)


async def _add_all(
    broker: Broker, request: AddPartitionsToTxnRequest, version: int
) -> AddPartitionsToTxnResponse:
    asked = additions(request, version)
    from_broker = version >= FROM_BROKERS
    results = await asyncio.gather(*(_add(broker, one, from_broker) for one in asked))
    codes = set(results[0].values()) if results else set()
    if not from_broker and len(codes) <= 1:
        return additions_echo(request, codes.pop() if codes else ErrorCode.NONE, version)
    return additions_response(
        [(one.transactional_id, result) for one, result in zip(asked, results, strict=True)],
        version,
    )


async def _add(broker: Broker, addition: Addition, from_broker: bool) -> AdditionResult:
    """One that cannot be added keeps all of them out, as a transaction is all or nothing. Of
    internal topics only a group's broker has something to add: the offsets."""
    known, unknown = known_partitions(broker, addition.partitions)
    internal = [] if from_broker else [one for one in known if one.topic in INTERNAL_TOPICS]
    if unknown or internal:
        return {
            **dict.fromkeys(known, ErrorCode.OPERATION_NOT_ATTEMPTED),
            **dict.fromkeys(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            **dict.fromkeys(internal, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        }
    # A broker tries again by itself, and others' transactions are in its request.
    return await add_partitions(broker, addition, wait=not from_broker)
