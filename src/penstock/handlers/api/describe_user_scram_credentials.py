"""DescribeUserScramCredentials: which mechanisms users have credentials for, never the secrets."""

from __future__ import annotations

from collections import Counter

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle(broker: Broker, request: DescribeUserScramCredentialsRequest, call: Call) -> Answer:
    known: dict[str, list[CredentialInfo]] = {}
    for (user, mechanism), record in sorted(broker.image.security.scram_credentials.items()):
        info = CredentialInfo(mechanism=mechanism, iterations=record.iterations)
        known.setdefault(user, []).append(info)
    asked = Counter(user.name for user in request.users or ()) or Counter(list(known))
    return DescribeUserScramCredentialsResponse(
        error_message="",
        results=[_described(user, times, known.get(user, [])) for user, times in asked.items()],
    )


def _described(
    user: str, times: int, infos: list[CredentialInfo]
) -> DescribeUserScramCredentialsResult:
    if times > 1:
        return DescribeUserScramCredentialsResult(
            user=user,
            error_code=ErrorCode.DUPLICATE_RESOURCE,
            error_message="Cannot describe SCRAM credentials for the same user twice"
            f" in a single request: {user}",
        )
    if not infos:
        return DescribeUserScramCredentialsResult(
            user=user,
            error_code=ErrorCode.RESOURCE_NOT_FOUND,
            error_message=f"Attempt to describe a user credential that does not exist: {user}",
        )
    return DescribeUserScramCredentialsResult(user=user, error_message="", credential_infos=infos)
