"""InitProducerId: an identity for a producer, so that its retries are recognised."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)


def handle(broker: Broker, request: InitProducerIdRequest, call: Call) -> Answer:
    if request.transactional_id is not None:
        # Transactions have a coordinator of their own, which this node does not run yet.
        code = (
            ErrorCode.COORDINATOR_NOT_AVAILABLE
            if request.transactional_id
            else ErrorCode.INVALID_REQUEST
        )
        return InitProducerIdResponse(error_code=code, producer_epoch=-1)
    producer_id = broker.producer_ids.take()
    if producer_id is not None:
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
    return _allocate_then_answer(broker)


async def _allocate_then_answer(broker: Broker) -> InitProducerIdResponse:
    producer_id = await broker.producer_ids.wait_take()
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
