"""What a node answers to those who ask for delegation tokens: it gives none, as somebody could be
anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from penstock.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from penstock.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from penstock.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

_PRINCIPAL_TYPE, _ANYBODY = "User", "ANONYMOUS"
_REQUESTER_FROM = 3


def handle(broker: Broker, request: Entity, call: Call) -> Answer:
    return _ANSWERS[type(request)](request, call.version)


def _create_token(request: CreateDelegationTokenRequest, version: int) -> Entity:
    refused = CreateDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        principal_type=request.owner_principal_type or _PRINCIPAL_TYPE,
        principal_name=request.owner_principal_name or _ANYBODY,
        issue_timestamp_ms=-1,
        expiry_timestamp_ms=-1,
        max_timestamp_ms=-1,
    )
    if version >= _REQUESTER_FROM:
        refused.token_requester_principal_type = _PRINCIPAL_TYPE
        refused.token_requester_principal_name = _ANYBODY
    return refused


def _describe_token(request: DescribeDelegationTokenRequest, version: int) -> Entity:
    return DescribeDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    )


def _renew_token(request: RenewDelegationTokenRequest, version: int) -> Entity:
    return RenewDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=-1
    )


def _expire_token(request: ExpireDelegationTokenRequest, version: int) -> Entity:
    return ExpireDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=-1
    )


_ANSWERS: dict[type[Entity], Callable[[Any, int], Entity]] = {
    CreateDelegationTokenRequest: _create_token,
    DescribeDelegationTokenRequest: _describe_token,
    RenewDelegationTokenRequest: _renew_token,
    ExpireDelegationTokenRequest: _expire_token,
}
