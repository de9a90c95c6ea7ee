"""What takes one operation on the cluster as a whole: administration, and what nodes ask."""

from __future__ import annotations

from penstock.handlers.authorization.asked import Asked
from penstock.handlers.authorization.cluster_refusal import refuse
from penstock.handlers.call import Answer
from penstock.model.acl import Operation
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.write_txn_markers import WriteTxnMarkersRequest

_OPERATIONS = {
    1: Operation.CLUSTER_ACTION,
    29: Operation.DESCRIBE,
    30: Operation.ALTER,
    31: Operation.ALTER,
    34: Operation.ALTER,
    35: Operation.DESCRIBE,
    43: Operation.ALTER,
    45: Operation.ALTER,
    46: Operation.DESCRIBE,
    48: Operation.DESCRIBE_CONFIGS,
    49: Operation.ALTER_CONFIGS,
    50: Operation.DESCRIBE,
    51: Operation.ALTER,
    52: Operation.CLUSTER_ACTION,
    53: Operation.CLUSTER_ACTION,
    54: Operation.CLUSTER_ACTION,
    55: Operation.DESCRIBE,
    56: Operation.CLUSTER_ACTION,
    57: Operation.ALTER,
    58: Operation.CLUSTER_ACTION,
    59: Operation.CLUSTER_ACTION,
    62: Operation.CLUSTER_ACTION,
    63: Operation.CLUSTER_ACTION,
    64: Operation.ALTER,
    67: Operation.CLUSTER_ACTION,
    70: Operation.CLUSTER_ACTION,
    73: Operation.CLUSTER_ACTION,
    74: Operation.DESCRIBE_CONFIGS,
    80: Operation.ALTER,
    81: Operation.ALTER,
    82: Operation.CLUSTER_ACTION,
}


def _ask(asked: Asked, request: Entity) -> Answer:
    assert request.API_KEY is not None
    if asked.may_cluster(_OPERATIONS[request.API_KEY]):
        return asked.answer(request)
    return _refused(asked, request)


def _write_markers(asked: Asked, request: WriteTxnMarkersRequest) -> Answer:
    """Of a coordinator, or of an admin who ends a transaction that hangs."""
    if asked.may_cluster(Operation.ALTER) or asked.may_cluster(Operation.CLUSTER_ACTION):
        return asked.answer(request)
    return _refused(asked, request)


def _refused(asked: Asked, request: Entity) -> Entity:
    error = ApiError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
    return refuse(request, error, asked.version)


GUARDS = {**dict.fromkeys(_OPERATIONS, _ask), 27: _write_markers}
