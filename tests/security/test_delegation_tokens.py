"""Delegation tokens: given to who logs in, good for their owner, and not for more of them."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from penstock.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from penstock.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from penstock.protocol.messages.metadata import MetadataRequest
from penstock.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from penstock.security.scram_client import ScramClient
from tests.node.wire_kit import Wire
from tests.security.sasl_kit import (
    ALICE,
    SaslBroker,
    SaslWire,
    is_served,
    sasl_broker,
    set_password,
)
from tools import apache_kafka
from tools.tool_host import shared_tool_host

CREATE = CreateDelegationTokenRequest(max_lifetime_ms=-1)
DESCRIBE = DescribeDelegationTokenRequest(owners=None)
METADATA = MetadataRequest(topics=None)
MECHANISM = "SCRAM-SHA-256"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SaslBroker]:
    settings = {
        "delegation.token.secret.key": "of the cluster",
        "connection.failed.authentication.delay.ms": 1,
    }
    with sasl_broker(tmp_path_factory.mktemp("tokens"), settings) as running:
        set_password(running.open, "carol", "carols")
        yield running


@pytest.fixture
def alice(broker: SaslBroker) -> Iterator[SaslWire]:
    with SaslWire(broker.secured) as wire:
        wire.login_scram(MECHANISM, *ALICE)
        yield wire


def login(wire: SaslWire, token_id: str, hmac: bytes) -> Any:
    password = b64encode(hmac).decode()
    client = ScramClient(MECHANISM, token_id, password, lambda: "abc", by_token=True)
    wire.handshake(MECHANISM)
    answer = wire.token(client.final(wire.token(client.first()).auth_bytes))
    if not answer.error_code:
        client.check(answer.auth_bytes)
    return answer


def test_a_token_is_its_owner(alice: SaslWire, broker: SaslBroker) -> None:
    token = alice.call(CREATE, 3)
    assert token.error_code == 0
    assert (token.principal_name, token.token_requester_principal_name) == ("alice", "alice")
    assert token.issue_timestamp_ms < token.expiry_timestamp_ms < token.max_timestamp_ms
    with SaslWire(broker.secured) as wire:
        answer = login(wire, token.token_id, token.hmac)
        assert answer.error_code == 0
        assert 0 < answer.session_lifetime_ms <= 86_400_000
        assert is_served(wire, METADATA, 12)
        refused = wire.call(CREATE, 3)
        assert refused.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        assert refused.principal_name == "alice"
    for wrong in ((token.token_id, b"guess"), ("no-such-token", token.hmac)):
        with SaslWire(broker.secured) as wire:
            assert login(wire, *wrong).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    with SaslWire(broker.secured) as wire:
        password = b64encode(token.hmac).decode()
        answer = wire.login_scram(MECHANISM, token.token_id, password)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED, "is no user's name"


def test_a_token_is_renewed_by_its_renewers_and_ends(alice: SaslWire, broker: SaslBroker) -> None:
    renewers = [CreatableRenewers(principal_type="User", principal_name="carol")]
    token = alice.call(
        CreateDelegationTokenRequest(renewers=renewers, max_lifetime_ms=3_600_000), 3
    )
    assert token.max_timestamp_ms == token.issue_timestamp_ms + 3_600_000
    renew = RenewDelegationTokenRequest(hmac=token.hmac, renew_period_ms=60_000)
    with SaslWire(broker.secured) as carol:
        carol.login_scram(MECHANISM, "carol", "carols")
        renewed = carol.call(renew, 2)
        assert (renewed.error_code, renewed.expiry_timestamp_ms < token.expiry_timestamp_ms) == (
            0,
            True,
        )
        owner = DescribeDelegationTokenOwner(principal_type="User", principal_name="carol")
        (seen,) = carol.call(DescribeDelegationTokenRequest(owners=[owner]), 3).tokens
        assert (seen.token_id, seen.hmac) == (token.token_id, token.hmac)
        assert [each.principal_name for each in seen.renewers] == ["carol"]
    others = alice.call(CREATE, 3)
    with SaslWire(broker.secured) as carol:
        carol.login_scram(MECHANISM, "carol", "carols")
        mismatch = carol.call(RenewDelegationTokenRequest(hmac=others.hmac), 2)
        assert mismatch.error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    at_once = ExpireDelegationTokenRequest(hmac=others.hmac, expiry_time_period_ms=0)
    deadline = time.monotonic() + 30
    while alice.call(at_once, 2).error_code != ErrorCode.DELEGATION_TOKEN_EXPIRED:
        assert time.monotonic() < deadline
    late = alice.call(RenewDelegationTokenRequest(hmac=others.hmac), 2)
    assert late.error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED
    with SaslWire(broker.secured) as wire:
        answer = login(wire, others.token_id, others.hmac)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    now = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1)
    assert alice.call(now, 2).error_code == 0
    assert alice.call(renew, 2).error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    assert token.token_id not in {each.token_id for each in alice.call(DESCRIBE, 3).tokens}


def test_nobody_gets_one_who_could_be_anybody(broker: SaslBroker) -> None:
    with Wire(broker.open) as wire:
        for request, version in ((CREATE, 3), (DESCRIBE, 3)):
            answer = wire.call(request, version)
            assert answer.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def test_without_a_secret_there_are_none(tmp_path: Path) -> None:
    with sasl_broker(tmp_path) as running, SaslWire(running.secured) as wire:
        wire.login_scram(MECHANISM, *ALICE)
        for request in (CREATE, DESCRIBE):
            answer = wire.call(request, 3)
            assert answer.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


def test_tokens_of_others_need_a_right(tmp_path: Path) -> None:
    settings = {
        "delegation.token.secret.key": "of the cluster",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:carol",
    }
    for_carol = CreateDelegationTokenRequest(
        owner_principal_type="User", owner_principal_name="carol", max_lifetime_ms=-1
    )
    with sasl_broker(tmp_path, settings) as running:
        set_password(running.open, "carol", "carols")
        with SaslWire(running.secured) as carol, SaslWire(running.secured) as alice:
            carol.login_scram(MECHANISM, "carol", "carols")
            alice.login_scram(MECHANISM, *ALICE)
            refused = alice.call(for_carol, 3)
            assert refused.error_code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
            carols, own = carol.call(CREATE, 3), alice.call(CREATE, 3)
            assert [each.token_id for each in alice.call(DESCRIBE, 3).tokens] == [own.token_id]
            everybodys = {each.token_id for each in carol.call(DESCRIBE, 3).tokens}
            assert everybodys == {carols.token_id, own.token_id}


@pytest.mark.java
def test_the_tool_of_kafka(broker: SaslBroker, tmp_path: Path) -> None:
    if (reason := apache_kafka.missing_prerequisite()) is not None:
        pytest.skip(reason)
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    file = tmp_path / "client.properties"

    def tool(name: str, *args: str, login: str) -> str:
        file.write_text(
            f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={MECHANISM}\n"
            f"sasl.jaas.config={module} required {login};\n"
        )
        address = ("--bootstrap-server", broker.secured, "--command-config", str(file))
        done = shared_tool_host().run(name, [*address, *args])
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    own = f'username="{ALICE[0]}" password="{ALICE[1]}"'
    made = tool(
        "kafka-delegation-tokens", "--create", "--max-life-time-period", "-1", login=own
    ).split()
    token_id = next(word for word in made if len(word) == 22)
    hmac = next(word for word in made if len(word) == 88)
    describe = ("kafka-delegation-tokens", "--describe", "--owner-principal", "User:alice")
    seen = tool(*describe, login=own)
    assert token_id in seen and hmac in seen
    by_token = f'username="{token_id}" password="{hmac}" tokenauth="true"'
    tool("kafka-topics", "--list", login=by_token)
    ended = ("--expire", "--expiry-time-period", "-1", "--hmac", hmac)
    tool("kafka-delegation-tokens", *ended, login=own)
    assert token_id not in tool(*describe, login=own)
