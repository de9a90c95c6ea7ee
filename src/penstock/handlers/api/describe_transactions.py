"""DescribeTransactions: the state of transactional ids."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.transaction_call import ask
from penstock.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)


def handle(broker: Broker, request: DescribeTransactionsRequest, call: Call) -> Answer:
    return _describe(broker, request)


async def _describe(
    broker: Broker, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    response = DescribeTransactionsResponse()
    for transactional_id in request.transactional_ids:
        response.transaction_states.extend(await _describe_one(broker, transactional_id))
    return response


async def _describe_one(broker: Broker, transactional_id: str) -> list[TransactionState]:
    return await ask(
        broker,
        transactional_id,
        lambda shard, _: shard.decide_describe([transactional_id]),
        lambda code: [TransactionState(transactional_id=transactional_id, error_code=code)],
    )
