"""Delegation tokens: who may ask for them, and which there are. The controller makes them.

Nobody gets one who could be anybody, nor for a token: of those there would be no end.
"""

from __future__ import annotations

from typing import Any

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call, ClientState
from penstock.handlers.coordinator_call import mapped
from penstock.metadata.token import owner_of, principal_of, token_hmac
from penstock.model.error import ErrorCode
from penstock.model.principal import ANONYMOUS
from penstock.model.security_protocol import SecurityProtocol
from penstock.protocol.entity import Entity
from penstock.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from penstock.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from penstock.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from penstock.protocol.messages.records.delegation_token_record import DelegationTokenRecord
from penstock.protocol.messages.renew_delegation_token import RenewDelegationTokenResponse

NEVER_MS = -1
REQUESTER_FROM = 3


def handle(broker: Broker, request: Entity, call: Call) -> Answer:
    client = call.client
    if not client.is_forwarded and not may_ask(client):
        return _refused(request, call)
    if isinstance(request, DescribeDelegationTokenRequest):
        return _describe(broker, request, call)
    if client.listener in broker.controller_listeners:
        answer = broker.controller.ask_active(request, call)
    else:
        answer = broker.controller.ask(request, call)
    return mapped(answer, lambda response: _fitted(response, call.version))


def _fitted(response: Entity, version: int) -> Entity:
    """Older versions have no place for who asked."""
    if version < REQUESTER_FROM and isinstance(response, CreateDelegationTokenResponse):
        response.token_requester_principal_type = response.token_requester_principal_name = ""
    return response


def may_ask(client: ClientState) -> bool:
    protocol = client.security_protocol
    if client.by_token or protocol == SecurityProtocol.PLAINTEXT:
        return False
    return protocol != SecurityProtocol.SSL or client.principal != ANONYMOUS


def _refused(request: Entity, call: Call) -> Entity:
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    if isinstance(request, DescribeDelegationTokenRequest):
        return DescribeDelegationTokenResponse(error_code=code)
    if isinstance(request, CreateDelegationTokenRequest):
        return refused_creation(request, call, code)
    if isinstance(request, ExpireDelegationTokenRequest):
        return ExpireDelegationTokenResponse(error_code=code, expiry_timestamp_ms=NEVER_MS)
    return RenewDelegationTokenResponse(error_code=code, expiry_timestamp_ms=NEVER_MS)


def refused_creation(
    request: CreateDelegationTokenRequest, call: Call, code: ErrorCode
) -> CreateDelegationTokenResponse:
    requester = call.client.principal
    owner = owner_of(request, requester)
    refused = CreateDelegationTokenResponse(
        error_code=code,
        principal_type=owner.type,
        principal_name=owner.name,
        issue_timestamp_ms=NEVER_MS,
        expiry_timestamp_ms=NEVER_MS,
        max_timestamp_ms=NEVER_MS,
    )
    if call.version >= REQUESTER_FROM:
        refused.token_requester_principal_type = requester.type
        refused.token_requester_principal_name = requester.name
    return refused


def _describe(broker: Broker, request: DescribeDelegationTokenRequest, call: Call) -> Entity:
    secret: str | None = broker.config.get("delegation.token.secret.key")
    if secret is None:
        code = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        return DescribeDelegationTokenResponse(error_code=code)
    asked: list[Any] | None = request.owners
    owners = None if asked is None else {f"{o.principal_type}:{o.principal_name}" for o in asked}
    return DescribeDelegationTokenResponse(
        tokens=[
            _described(token, secret, call.version)
            for token in broker.image.security.tokens.values()
            if owners is None or not owners.isdisjoint(_named(token))
        ]
    )


def _named(token: DelegationTokenRecord) -> tuple[str, ...]:
    """Whose token it is in any way."""
    return token.owner, token.requester, *token.renewers


def _described(token: DelegationTokenRecord, secret: str, version: int) -> DescribedDelegationToken:
    owner, requester = principal_of(token.owner), principal_of(token.requester)
    described = DescribedDelegationToken(
        principal_type=owner.type,
        principal_name=owner.name,
        issue_timestamp=token.issue_timestamp,
        expiry_timestamp=token.expiration_timestamp,
        max_timestamp=token.max_timestamp,
        token_id=token.token_id,
        hmac=token_hmac(secret, token.token_id),
        renewers=[_renewer(each) for each in token.renewers],
    )
    if version >= REQUESTER_FROM:
        described.token_requester_principal_type = requester.type
        described.token_requester_principal_name = requester.name
    return described


def _renewer(text: str) -> DescribedDelegationTokenRenewer:
    kind, name = principal_of(text)
    return DescribedDelegationTokenRenewer(principal_type=kind, principal_name=name)
