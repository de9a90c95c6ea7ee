"""ListTransactions: every transactional id this broker coordinates."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.coordinator_call import code_for_client
from penstock.model.error import ApiError, StorageError
from penstock.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)


def handle(broker: Broker, request: ListTransactionsRequest, call: Call) -> Answer:
    return _list(broker, request)


async def _list(broker: Broker, request: ListTransactionsRequest) -> ListTransactionsResponse:
    answer = ListTransactionsResponse()
    try:
        for runtime in await broker.transactions.wait_all():
            found = await runtime.submit(
                lambda shard: shard.decide_list(request, broker.clock.now_ms())
            )
            if found.error_code:
                return found
            answer.unknown_state_filters = found.unknown_state_filters
            answer.transaction_states.extend(found.transaction_states)
    except (ApiError, StorageError) as error:
        return ListTransactionsResponse(error_code=code_for_client(error))
    return answer
