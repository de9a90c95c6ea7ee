"""Delegation tokens: everybody may have and see their own; those of others take a grant."""

from __future__ import annotations

from penstock.handlers.api.delegation_token import may_ask, refused_creation
from penstock.handlers.authorization.asked import Asked
from penstock.handlers.call import Answer
from penstock.metadata.token import owner_of
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from penstock.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)


def _create(asked: Asked, request: CreateDelegationTokenRequest) -> Answer:
    client = asked.call.client
    requester = client.principal
    if not request.owner_principal_name or not (client.is_forwarded or may_ask(client)):
        return asked.answer(request)
    owner = owner_of(request, requester)
    may_create = asked.access.may(Operation.CREATE_TOKENS, ResourceType.USER, str(owner))
    if owner == requester or may_create:
        return asked.answer(request)
    code = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    return refused_creation(request, asked.call, code)


def _describe(asked: Asked, request: DescribeDelegationTokenRequest) -> Answer:
    def leave_out(response: DescribeDelegationTokenResponse) -> DescribeDelegationTokenResponse:
        response.tokens = [token for token in response.tokens if _is_shown(asked, token)]
        return response

    return asked.answer_then(request, leave_out)


def _is_shown(asked: Asked, token: DescribedDelegationToken) -> bool:
    kept = asked.broker.image.security.tokens.get(token.token_id)
    if kept is None:
        return False
    if str(asked.call.client.principal) in (kept.owner, kept.requester, *kept.renewers):
        return True
    may, kind = asked.access.may, ResourceType.DELEGATION_TOKEN
    return may(Operation.DESCRIBE, kind, token.token_id) or may(
        Operation.DESCRIBE_TOKENS, ResourceType.USER, kept.owner
    )


GUARDS = {38: _create, 41: _describe}
