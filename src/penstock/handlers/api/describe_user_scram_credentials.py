"""DescribeUserScramCredentials: who has a password in the metadata log. Penstock asks for none."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.metadata.security import SecurityImage
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle(broker: Broker, request: DescribeUserScramCredentialsRequest, call: Call) -> Answer:
    security = broker.image.security
    asked = [user.name for user in request.users or ()]
    users = asked or [name for name, _ in security.scram_credentials]
    return DescribeUserScramCredentialsResponse(
        results=[
            _refused(
                user,
                ErrorCode.DUPLICATE_RESOURCE,
                "Cannot describe SCRAM credentials for the same user twice in a single request: ",
            )
            if asked.count(user) > 1
            else _result(security, user)
            for user in dict.fromkeys(users)
        ],
    )


def _result(security: SecurityImage, user: str) -> DescribeUserScramCredentialsResult:
    found = [
        CredentialInfo(mechanism=mechanism, iterations=record.iterations)
        for (name, mechanism), record in sorted(security.scram_credentials.items())
        if name == user
    ]
    if found:
        return DescribeUserScramCredentialsResult(user=user, credential_infos=found)
    message = "Attempt to describe a user credential that does not exist: "
    return _refused(user, ErrorCode.RESOURCE_NOT_FOUND, message)


def _refused(user: str, code: ErrorCode, message: str) -> DescribeUserScramCredentialsResult:
    return DescribeUserScramCredentialsResult(
        user=user, error_code=code, error_message=message + user
    )
