"""Delegation tokens, one's own and those of others."""

from __future__ import annotations

from penstock.protocol.entity import Entity
from penstock.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from penstock.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from tests.authorization.cases import TOKEN, Scene, case

OWNER = "authz-owner"


@case(f"{TOKEN} of one's own", 38)
def create_token(scene: Scene) -> Entity:
    return CreateDelegationTokenRequest(max_lifetime_ms=600_000)


@case(f"{TOKEN} for somebody else", 38, range(3, 100))
def create_token_for(scene: Scene) -> Entity:
    return CreateDelegationTokenRequest(
        owner_principal_type="User", owner_principal_name=OWNER, max_lifetime_ms=600_000
    )


@case("describe tokens", 41)
def describe_tokens(scene: Scene) -> Entity:
    return DescribeDelegationTokenRequest(owners=None)
