"""CreateAcls: refused, as by a Kafka without an authorizer. See DescribeAcls."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)


def handle(broker: Broker, request: CreateAclsRequest, call: Call) -> Answer:
    return CreateAclsResponse(
        results=[
            AclCreationResult(
                error_code=ErrorCode.SECURITY_DISABLED,
                error_message="No Authorizer is configured.",
            )
            for _ in request.creations
        ]
    )
