"""EndTxn: commit or abort. Answered when the decision is in the log, as by Kafka: from then on
nothing can change it, and the markers follow. Whatever the producer asks next waits for them."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.transaction_call import answer
from penstock.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse


def handle(broker: Broker, request: EndTxnRequest, call: Call) -> Answer:
    return answer(
        broker,
        request.transactional_id,
        lambda shard, now_ms: shard.decide_end(request, call.version, now_ms),
        lambda code: EndTxnResponse(error_code=code),
    )
