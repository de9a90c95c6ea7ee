"""AddOffsetsToTxn: a transaction will commit a group's place along with its records."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.transaction_call import ask
from penstock.model.error import ApiError
from penstock.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)


def handle(broker: Broker, request: AddOffsetsToTxnRequest, call: Call) -> Answer:
    return _add(broker, request, call.version)


async def _add(
    broker: Broker, request: AddOffsetsToTxnRequest, version: int
) -> AddOffsetsToTxnResponse:
    try:
        offsets_partition = await broker.groups.wait_partition_of(request.group_id)
    except ApiError as error:
        return AddOffsetsToTxnResponse(error_code=error.code)
    await broker.transactions.wait_completed(request.transactional_id)
    return await ask(
        broker,
        request.transactional_id,
        lambda shard, now_ms: shard.decide_add_offsets(request, version, offsets_partition, now_ms),
        lambda code: AddOffsetsToTxnResponse(error_code=code),
    )
