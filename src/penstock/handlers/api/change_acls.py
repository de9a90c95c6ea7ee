"""CreateAcls and DeleteAcls: the controller keeps the entries, where there is an authorizer."""

from __future__ import annotations

from penstock.handlers.api import controller_request
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode, ProtocolError
from penstock.protocol.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from penstock.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)

_NO_AUTHORIZER = "No Authorizer is configured."

Request = CreateAclsRequest | DeleteAclsRequest


def handle(broker: Broker, request: Request, call: Call) -> Answer:
    _check_words(request)
    if broker.authorizer is not None:
        return controller_request.handle(broker, request, call)
    code = ErrorCode.SECURITY_DISABLED
    if isinstance(request, CreateAclsRequest):
        refused = AclCreationResult(error_code=code, error_message=_NO_AUTHORIZER)
        return CreateAclsResponse(results=[refused for _ in request.creations])
    refusal = DeleteAclsFilterResult(error_code=code, error_message=_NO_AUTHORIZER)
    return DeleteAclsResponse(filter_results=[refusal for _ in request.filters])


def _check_words(request: Request) -> None:
    """Kafka does not read a request that says UNKNOWN, and hangs up."""
    if isinstance(request, CreateAclsRequest):
        words = [
            (one.resource_type, one.resource_pattern_type, one.operation, one.permission_type)
            for one in request.creations
        ]
    else:
        words = [
            (one.resource_type_filter, one.pattern_type_filter, one.operation, one.permission_type)
            for one in request.filters
        ]
    if not all(all(each) for each in words):
        raise ProtocolError(f"{request.NAME} contains UNKNOWN elements")
