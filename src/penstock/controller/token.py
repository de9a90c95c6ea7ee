"""Delegation tokens: made for somebody, renewed, expired. As Kafka's controller does it.

What has expired opens nothing, and is dropped from the log by the controller's periodic work.
"""

from __future__ import annotations

import hmac
from typing import Final

from penstock.controller.config import ControllerContext
from penstock.controller.outcome import Outcome, conclude
from penstock.metadata.record import MetadataRecord
from penstock.metadata.token import is_expired, may_renew, owner_of, token_hmac
from penstock.model.error import ErrorCode
from penstock.model.id import id_to_str
from penstock.model.principal import USER, Principal
from penstock.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from penstock.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from penstock.protocol.messages.records.delegation_token_record import DelegationTokenRecord
from penstock.protocol.messages.records.remove_delegation_token_record import (
    RemoveDelegationTokenRecord,
)
from penstock.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

TIME_MS_MAX: Final = (1 << 63) - 1

TokenRequest = (
    CreateDelegationTokenRequest | RenewDelegationTokenRequest | ExpireDelegationTokenRequest
)
TokenResponse = (
    CreateDelegationTokenResponse | RenewDelegationTokenResponse | ExpireDelegationTokenResponse
)


def decide_token(
    context: ControllerContext,
    request: TokenRequest,
    requester: Principal,
    now_ms: int,
) -> Outcome[TokenResponse]:
    if isinstance(request, CreateDelegationTokenRequest):
        return _create(context, request, requester, now_ms)
    if isinstance(request, RenewDelegationTokenRequest):
        return _renew(context, request, requester, now_ms)
    return _expire(context, request, requester, now_ms)


def _create(
    context: ControllerContext,
    request: CreateDelegationTokenRequest,
    requester: Principal,
    now_ms: int,
) -> Outcome[TokenResponse]:
    config, secret = context.config, context.config.token_secret
    owner = owner_of(request, requester)
    response = CreateDelegationTokenResponse(
        principal_type=owner.type,
        principal_name=owner.name,
        token_requester_principal_type=requester.type,
        token_requester_principal_name=requester.name,
    )
    if secret is None:
        response.error_code = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        return conclude(config, [], response)
    if any(each.principal_type != USER for each in request.renewers):
        response.error_code = ErrorCode.INVALID_PRINCIPAL_TYPE
        return conclude(config, [], response)
    token = DelegationTokenRecord(
        owner=str(owner),
        requester=str(requester),
        renewers=[f"{each.principal_type}:{each.principal_name}" for each in request.renewers],
        issue_timestamp=now_ms,
        max_timestamp=_later(now_ms, config.token_lifetime_ms_max, request.max_lifetime_ms),
        token_id=id_to_str(context.new_id()),
    )
    token.expiration_timestamp = min(token.max_timestamp, now_ms + config.token_expiry_ms)
    response.issue_timestamp_ms = now_ms
    response.expiry_timestamp_ms = token.expiration_timestamp
    response.max_timestamp_ms = token.max_timestamp
    response.token_id = token.token_id
    response.hmac = token_hmac(secret, token.token_id)
    return conclude(config, [token], response)


def _renew(
    context: ControllerContext,
    request: RenewDelegationTokenRequest,
    requester: Principal,
    now_ms: int,
) -> Outcome[TokenResponse]:
    config = context.config
    token = _found(context, request.hmac, requester)
    if isinstance(token, ErrorCode):
        return conclude(config, [], RenewDelegationTokenResponse(error_code=token))
    if is_expired(token, now_ms):
        expired = ErrorCode.DELEGATION_TOKEN_EXPIRED
        return conclude(config, [], RenewDelegationTokenResponse(error_code=expired))
    until_ms = _later(now_ms, config.token_expiry_ms, request.renew_period_ms)
    renewed = _until(token, until_ms)
    response = RenewDelegationTokenResponse(expiry_timestamp_ms=renewed.expiration_timestamp)
    return conclude(config, [renewed], response)


def _expire(
    context: ControllerContext,
    request: ExpireDelegationTokenRequest,
    requester: Principal,
    now_ms: int,
) -> Outcome[TokenResponse]:
    config = context.config
    token = _found(context, request.hmac, requester)
    if isinstance(token, ErrorCode):
        return conclude(config, [], ExpireDelegationTokenResponse(error_code=token))
    if request.expiry_time_period_ms < 0:
        gone = RemoveDelegationTokenRecord(token_id=token.token_id)
        return conclude(config, [gone], ExpireDelegationTokenResponse(expiry_timestamp_ms=now_ms))
    if is_expired(token, now_ms):
        expired = ErrorCode.DELEGATION_TOKEN_EXPIRED
        return conclude(config, [], ExpireDelegationTokenResponse(error_code=expired))
    ending = _until(token, min(now_ms + request.expiry_time_period_ms, TIME_MS_MAX))
    response = ExpireDelegationTokenResponse(expiry_timestamp_ms=ending.expiration_timestamp)
    return conclude(config, [ending], response)


def _found(
    context: ControllerContext, given: bytes, requester: Principal
) -> DelegationTokenRecord | ErrorCode:
    """By what only its holder knows, for who may say how long it lasts."""
    secret = context.config.token_secret
    if secret is None:
        return ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    for token in context.image.security.tokens.values():
        if hmac.compare_digest(token_hmac(secret, token.token_id), given):
            if may_renew(token, requester):
                return token
            return ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    return ErrorCode.DELEGATION_TOKEN_NOT_FOUND


def _later(now_ms: int, most_ms: int, asked_ms: int) -> int:
    return min(now_ms + (min(most_ms, asked_ms) if asked_ms > 0 else most_ms), TIME_MS_MAX)


def _until(token: DelegationTokenRecord, until_ms: int) -> DelegationTokenRecord:
    return DelegationTokenRecord(
        owner=token.owner,
        requester=token.requester,
        renewers=token.renewers,
        issue_timestamp=token.issue_timestamp,
        max_timestamp=token.max_timestamp,
        expiration_timestamp=min(token.max_timestamp, until_ms),
        token_id=token.token_id,
    )


def expired_tokens(context: ControllerContext, now_ms: int) -> list[MetadataRecord]:
    """That they are gone."""
    return [
        RemoveDelegationTokenRecord(token_id=each.token_id)
        for each in context.image.security.tokens.values()
        if is_expired(each, now_ms)
    ]
