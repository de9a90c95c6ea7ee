"""FindCoordinator: DESCRIBE on the group or the transactional id. Share partitions are for brokers
to find."""

from __future__ import annotations

from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_MANY_KEYS_FROM = 4
_SHARE = 2
_KINDS = {
    0: (ResourceType.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED, "Group authorization failed."),
    1: (
        ResourceType.TRANSACTIONAL_ID,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        "Transactional Id authorization failed.",
    ),
}


def _find_coordinator(asked: Asked, request: FindCoordinatorRequest) -> Answer:
    if request.key_type == _SHARE and not asked.may_cluster(Operation.CLUSTER_ACTION):
        return _refused_share(request)
    if request.key_type not in _KINDS:
        return asked.answer(request)
    kind, code, message = _KINDS[request.key_type]

    def may_describe(key: str) -> bool:
        return asked.access.may(Operation.DESCRIBE, kind, key)

    if asked.version < _MANY_KEYS_FROM:
        if may_describe(request.key):
            return asked.answer(request)
        return FindCoordinatorResponse(
            error_code=code, error_message=message if asked.version else "", node_id=-1, port=-1
        )
    request.coordinator_keys, refused = split(request.coordinator_keys, may_describe)
    told = [
        Coordinator(key=key, error_code=code, error_message="", node_id=-1, port=-1)
        for key in refused
    ]
    return asked.answer_rest(
        request, request.coordinator_keys, FindCoordinatorResponse, "coordinators", told
    )


def _refused_share(request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(key=key, error_code=code, error_message="", node_id=-1, port=-1)
            for key in request.coordinator_keys
        ]
    )


GUARDS = {10: _find_coordinator}
