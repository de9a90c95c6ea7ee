"""What a node without an authorizer answers to those who ask for access rules: it keeps none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
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
from penstock.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

_NO_AUTHORIZER = "No Authorizer is configured."


def handle(broker: Broker, request: Entity, call: Call) -> Answer:
    return _ANSWERS[type(request)](request, call.version)


def _describe_acls(request: DescribeAclsRequest, version: int) -> Entity:
    return DescribeAclsResponse(
        error_code=ErrorCode.SECURITY_DISABLED,
        error_message="No Authorizer is configured on the broker",
    )


def _create_acls(request: CreateAclsRequest, version: int) -> Entity:
    refused = AclCreationResult(
        error_code=ErrorCode.SECURITY_DISABLED, error_message=_NO_AUTHORIZER
    )
    return CreateAclsResponse(results=[refused for _ in request.creations])


def _delete_acls(request: DeleteAclsRequest, version: int) -> Entity:
    refused = DeleteAclsFilterResult(
        error_code=ErrorCode.SECURITY_DISABLED, error_message=_NO_AUTHORIZER
    )
    return DeleteAclsResponse(filter_results=[refused for _ in request.filters])


_ANSWERS: dict[type[Entity], Callable[[Any, int], Entity]] = {
    DescribeAclsRequest: _describe_acls,
    CreateAclsRequest: _create_acls,
    DeleteAclsRequest: _delete_acls,
}
