"""Producer ids, handed out in blocks, so that each is given once in the life of the cluster."""

from __future__ import annotations

from typing import Final

from penstock.controller.broker_change import check_epoch
from penstock.controller.config import ControllerContext
from penstock.controller.outcome import Outcome, conclude
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from penstock.protocol.messages.records.producer_ids_record import ProducerIdsRecord

BLOCK_SIZE: Final = 1000
_ID_MAX: Final = 2**63 - 1


def decide_allocate_producer_ids(
    context: ControllerContext, request: AllocateProducerIdsRequest
) -> Outcome[AllocateProducerIdsResponse]:
    check_epoch(context, request.broker_id, request.broker_epoch)
    start = context.image.next_producer_id
    if start > _ID_MAX - BLOCK_SIZE:
        raise ApiError(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            "Exhausted all producerIds as the next block's end producerId has exceeded the "
            "int64 type limit",
        )
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=start + BLOCK_SIZE,
    )
    response = AllocateProducerIdsResponse(producer_id_start=start, producer_id_len=BLOCK_SIZE)
    return conclude(context.config, [record], response)
