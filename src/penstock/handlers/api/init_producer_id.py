"""InitProducerId: an identity for a producer, so that its retries are recognised.

With a transactional id the identity outlives the process: whoever asks for it next takes over.
"""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

NONE = -1
"""A producer that has no identity yet; id and epoch come together or not at all."""


def handle(broker: Broker, request: InitProducerIdRequest, call: Call) -> Answer:
    if (request.producer_id == NONE) != (request.producer_epoch == NONE):
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1)
    if request.transactional_id is not None:
        return _begin_transactional(broker, request, call.version)
    producer_id = broker.producer_ids.take()
    if producer_id is not None:
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
    return _allocate_then_answer(broker)


async def _allocate_then_answer(broker: Broker) -> InitProducerIdResponse:
    producer_id = await broker.producer_ids.wait_take()
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


async def _begin_transactional(
    broker: Broker, request: InitProducerIdRequest, version: int
) -> InitProducerIdResponse:
    from penstock.handlers.transaction_call import ask

    if not request.transactional_id:
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1)
    await broker.transactions.wait_completed(request.transactional_id)
    return await ask(
        broker,
        request.transactional_id,
        lambda shard, now_ms: shard.decide_init_producer_id(request, version, now_ms),
        lambda code: InitProducerIdResponse(error_code=code, producer_epoch=-1),
    )
