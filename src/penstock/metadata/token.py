"""Delegation tokens: what is made of the record of one, and of the secret that all nodes share."""

from __future__ import annotations

import hmac
from base64 import b64encode

from penstock.model.principal import Principal
from penstock.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from penstock.protocol.messages.records.delegation_token_record import DelegationTokenRecord


def token_hmac(secret: str, token_id: str) -> bytes:
    return hmac.digest(secret.encode(), token_id.encode(), "sha512")


def token_password(secret: str, token_id: str) -> str:
    """What its holder logs in with, under the token's id as a name."""
    return b64encode(token_hmac(secret, token_id)).decode()


def principal_of(text: str) -> Principal:
    """Of `User:alice`."""
    kind, _, name = text.partition(":")
    return Principal(kind, name)


def owner_of(request: CreateDelegationTokenRequest, requester: Principal) -> Principal:
    """For whom a token is asked for: who asks, unless somebody else is named."""
    if not request.owner_principal_name:
        return requester
    return Principal(request.owner_principal_type or "", request.owner_principal_name)


def is_expired(token: DelegationTokenRecord, now_ms: int) -> bool:
    return token.max_timestamp < now_ms or token.expiration_timestamp < now_ms


def may_renew(token: DelegationTokenRecord, who: Principal) -> bool:
    return str(who) == token.owner or str(who) in token.renewers
