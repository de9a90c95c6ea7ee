"""DeleteAcls: refused, as by a Kafka without an authorizer. See DescribeAcls."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)


def handle(broker: Broker, request: DeleteAclsRequest, call: Call) -> Answer:
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsFilterResult(
                error_code=ErrorCode.SECURITY_DISABLED,
                error_message="No Authorizer is configured.",
            )
            for _ in request.filters
        ]
    )
