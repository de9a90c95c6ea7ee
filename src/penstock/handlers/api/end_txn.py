"""EndTxn: commit or abort. Answered when every partition has its marker, so that the producer's
next transaction does not run into the end of this one."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.transaction_call import ask
from penstock.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse


def handle(broker: Broker, request: EndTxnRequest, call: Call) -> Answer:
    return _end(broker, request, call.version)


async def _end(broker: Broker, request: EndTxnRequest, version: int) -> EndTxnResponse:
    response = await ask(
        broker,
        request.transactional_id,
        lambda shard, now_ms: shard.decide_end(request, version, now_ms),
        lambda code: EndTxnResponse(error_code=code),
    )
    if not response.error_code:
        await broker.transactions.wait_completed(request.transactional_id)
    return response
