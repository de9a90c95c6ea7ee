"""DescribeAcls: this node authorizes nobody, and says so as Kafka does without an authorizer.

Whoever copies a cluster asks for them and goes on without: MirrorMaker 2 for one.
"""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


def handle(broker: Broker, request: DescribeAclsRequest, call: Call) -> Answer:
    return DescribeAclsResponse(
        error_code=ErrorCode.SECURITY_DISABLED,
        error_message="No Authorizer is configured on the broker",
    )
