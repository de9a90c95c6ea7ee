"""Produce: WRITE on each topic, and on the transactional id of records in a transaction."""

from __future__ import annotations

from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.handlers.transactional_produce import has_transactional_records
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ErrorCode, ProtocolError
from penstock.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)


def _produce(asked: Asked, request: ProduceRequest) -> Answer:
    if request.transactional_id is None and _may_write_all(asked, request):
        return asked.answer(request)
    if not _may_transact(asked, request):
        return _refused(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)

    def may_write(topic: TopicProduceData) -> bool:
        name = asked.topic_name(topic.name, topic.topic_id)
        # One that does not exist under this id is for the handler to refuse.
        return name is None or asked.may_topic(Operation.WRITE, name)

    allowed, refused = split(request.topic_data, may_write)
    if not refused:
        return asked.answer(request)
    told = [_told(topic, ErrorCode.TOPIC_AUTHORIZATION_FAILED) for topic in refused]
    request.topic_data = allowed
    if request.acks == 0:
        return _answer_silently(asked, request)
    return asked.answer_rest(request, allowed, ProduceResponse, "responses", told)


def _may_write_all(asked: Asked, request: ProduceRequest) -> bool:
    """Nearly always so, and asked for every produce: nothing is built for it."""
    may = asked.access.may
    for topic in request.topic_data:
        name = topic.name or asked.topic_name(topic.name, topic.topic_id)
        if name is not None and not may(Operation.WRITE, ResourceType.TOPIC, name):
            return False
    return True


def _may_transact(asked: Asked, request: ProduceRequest) -> bool:
    name = request.transactional_id
    if name is None or asked.may_transact(Operation.WRITE, name):
        return True
    return not has_transactional_records(request)


def _answer_silently(asked: Asked, request: ProduceRequest) -> Answer:
    """The rest is written, and the client, who wants no answers, hears of the refusal by our
    hanging up."""
    if not request.topic_data:
        raise _hang_up(ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    def end(_: None) -> None:
        raise _hang_up(ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    return asked.answer_then(request, end)


def _refused(request: ProduceRequest, code: ErrorCode) -> ProduceResponse:
    if request.acks == 0:
        raise _hang_up(code)
    return ProduceResponse(responses=[_told(topic, code) for topic in request.topic_data])


def _hang_up(code: ErrorCode) -> ProtocolError:
    return ProtocolError(f"produce with acks=0 failed: {code.name}")


def _told(topic: TopicProduceData, code: ErrorCode) -> TopicProduceResponse:
    return TopicProduceResponse(
        name=topic.name,
        topic_id=topic.topic_id,
        partition_responses=[
            PartitionProduceResponse(
                index=data.index, error_code=code, base_offset=-1, error_message=None
            )
            for data in topic.partition_data
        ],
    )


GUARDS = {0: _produce}
