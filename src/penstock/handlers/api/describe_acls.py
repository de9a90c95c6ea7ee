"""DescribeAcls: the access control entries that a filter means."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.metadata.acl_filter import filter_of
from penstock.model.error import ErrorCode, ProtocolError
from penstock.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)


def handle(broker: Broker, request: DescribeAclsRequest, call: Call) -> Answer:
    _check_words(request)
    if broker.authorizer is None:
        return DescribeAclsResponse(
            error_code=ErrorCode.SECURITY_DISABLED,
            error_message="No Authorizer is configured on the broker",
        )
    wanted = filter_of(request)
    resources: dict[tuple[int, str, int], DescribeAclsResource] = {}
    for acl in broker.image.security.acls:
        if not wanted.matches(acl):
            continue
        pattern = (acl.resource_type, acl.resource_name, acl.pattern_type)
        resource = resources.get(pattern)
        if resource is None:
            resource = resources[pattern] = DescribeAclsResource(
                resource_type=acl.resource_type,
                resource_name=acl.resource_name,
                pattern_type=acl.pattern_type,
                acls=[],
            )
        resource.acls.append(
            AclDescription(
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission,
            )
        )
    return DescribeAclsResponse(error_message="", resources=list(resources.values()))


def _check_words(request: DescribeAclsRequest) -> None:
    """Kafka does not read a request that says UNKNOWN, and hangs up."""
    if not (
        request.resource_type_filter
        and request.pattern_type_filter
        and request.operation
        and request.permission_type
    ):
        raise ProtocolError("DescribeAclsRequest contains UNKNOWN elements")
