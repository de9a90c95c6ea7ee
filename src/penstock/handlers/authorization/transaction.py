"""Transactions: WRITE or DESCRIBE on the transactional id, and what it is used with."""

from __future__ import annotations

from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.handlers.topology import INTERNAL_TOPICS
from penstock.handlers.transaction_call import known_partitions
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
)
from penstock.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from penstock.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from penstock.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from penstock.transaction import additions, additions_response

_REFUSED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
_FROM_BROKERS = 4


def _init_producer_id(asked: Asked, request: InitProducerIdRequest) -> Answer:
    """Whoever may write to any topic may have an id to do it without repetitions (KIP-679)."""
    if request.transactional_id is not None:
        if asked.may_transact(Operation.WRITE, request.transactional_id):
            return asked.answer(request)
        return _no_producer(_REFUSED)
    if asked.may_cluster(Operation.IDEMPOTENT_WRITE) or asked.access.may_any(
        Operation.WRITE, ResourceType.TOPIC
    ):
        return asked.answer(request)
    return _no_producer(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


def _no_producer(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)


def _add_partitions(asked: Asked, request: AddPartitionsToTxnRequest) -> Answer:
    """One topic that may not be written to keeps all partitions out."""
    if asked.version >= _FROM_BROKERS:
        if asked.may_cluster(Operation.CLUSTER_ACTION):
            return asked.answer(request)
        return AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    (addition,) = additions(request, asked.version)
    name = addition.transactional_id
    if not asked.may_transact(Operation.WRITE, name):
        refused = dict.fromkeys(addition.partitions, _REFUSED)
        return additions_response([(name, refused)], asked.version)
    allowed, hidden = split(
        addition.partitions,
        lambda one: (
            one.topic not in INTERNAL_TOPICS and asked.may_topic(Operation.WRITE, one.topic)
        ),
    )
    if not hidden:
        return asked.answer(request)
    known, unknown = known_partitions(asked.broker, allowed)
    told = {
        **dict.fromkeys(known, ErrorCode.OPERATION_NOT_ATTEMPTED),
        **dict.fromkeys(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        **dict.fromkeys(hidden, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    }
    return additions_response([(name, told)], asked.version)


def _add_offsets(asked: Asked, request: AddOffsetsToTxnRequest) -> Answer:
    if not asked.may_transact(Operation.WRITE, request.transactional_id):
        return AddOffsetsToTxnResponse(error_code=_REFUSED)
    if not asked.may_group(Operation.READ, request.group_id):
        return AddOffsetsToTxnResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    return asked.answer(request)


def _end(asked: Asked, request: EndTxnRequest) -> Answer:
    if asked.may_transact(Operation.WRITE, request.transactional_id):
        return asked.answer(request)
    return EndTxnResponse(error_code=_REFUSED)


def _describe(asked: Asked, request: DescribeTransactionsRequest) -> Answer:
    """Without the topics that are not to be described."""
    allowed, refused = split(
        request.transactional_ids, lambda name: asked.may_transact(Operation.DESCRIBE, name)
    )
    request.transactional_ids = allowed

    def leave_out(response: DescribeTransactionsResponse) -> DescribeTransactionsResponse:
        for state in response.transaction_states:
            state.topics = [
                topic for topic in state.topics if asked.may_topic(Operation.DESCRIBE, topic.topic)
            ]
        response.transaction_states += [
            TransactionState(transactional_id=name, error_code=_REFUSED) for name in refused
        ]
        return response

    if not allowed:
        return leave_out(DescribeTransactionsResponse())
    return asked.answer_then(request, leave_out)


def _list(asked: Asked, request: ListTransactionsRequest) -> Answer:
    def leave_out(response: ListTransactionsResponse) -> ListTransactionsResponse:
        response.transaction_states = [
            state
            for state in response.transaction_states
            if asked.may_transact(Operation.DESCRIBE, state.transactional_id)
        ]
        return response

    return asked.answer_then(request, leave_out)


GUARDS = {
    22: _init_producer_id,
    24: _add_partitions,
    25: _add_offsets,
    26: _end,
    65: _describe,
    66: _list,
}
