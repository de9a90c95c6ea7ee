"""A broker without security.

Who asks for it is told so, and credentials are kept all the same.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from hashlib import pbkdf2_hmac

import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from confluent_kafka.error import KafkaException

from penstock.model.error import ErrorCode
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from penstock.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from penstock.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from penstock.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from penstock.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from penstock.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.conformance.clients.raw import Connection
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

SHA_256, SHA_512 = 1, 2


@pytest.fixture
def user(connection: Connection) -> Iterator[str]:
    """The name of a user; none whose name begins with it has credentials afterwards."""
    user = f"user-{uuid.uuid4().hex[:8]}"
    yield user
    everybody = connection.call(DescribeUserScramCredentialsRequest(users=None), 0).results
    left = [
        ScramCredentialDeletion(name=one.user, mechanism=info.mechanism)
        for one in everybody
        if one.user.startswith(user)
        for info in one.credential_infos
    ]
    # What is gone may not be known to be gone here.
    assert set(altered(connection, deletions=left).values()) <= {0, ErrorCode.RESOURCE_NOT_FOUND}


@pytest.mark.feature("Logging in where nobody has to")
@pytest.mark.client("raw requests")
def test_sasl(connection: Connection) -> None:
    hello = connection.call(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert (hello.error_code, hello.mechanisms) == (ErrorCode.ILLEGAL_SASL_STATE, [])
    proof = connection.call(SaslAuthenticateRequest(auth_bytes=b"x"), 2)
    assert proof.error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert "after successful authentication" in proof.error_message


@pytest.mark.feature("Delegation tokens where nobody logs in")
@pytest.mark.client("raw requests")
def test_tokens(connection: Connection) -> None:
    asked = CreateDelegationTokenRequest(
        owner_principal_type=None, owner_principal_name=None, max_lifetime_ms=-1
    )
    made = connection.call(asked, 3)
    assert made.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert (made.principal_type, made.principal_name) == ("User", "ANONYMOUS")
    for request, version in (
        (DescribeDelegationTokenRequest(owners=None), 3),
        (RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=1), 2),
        (ExpireDelegationTokenRequest(hmac=b"x", expiry_time_period_ms=1), 2),
    ):
        refused = connection.call(request, version)
        assert refused.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def upsertion(user: str, mechanism: int = SHA_256, iterations: int = 4096) -> object:
    return ScramCredentialUpsertion(
        name=user,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"salt",
        salted_password=pbkdf2_hmac("sha256", b"secret", b"salt", iterations),
    )


def altered(connection: Connection, **changes: Sequence[object]) -> dict[str, int]:
    request = AlterUserScramCredentialsRequest(**changes)  # type: ignore[arg-type]
    return {one.user: one.error_code for one in connection.call(request, 0).results}


def described(connection: Connection, *users: str) -> dict[str, object]:
    asked = DescribeUserScramCredentialsRequest(users=[UserName(name=user) for user in users])
    return {
        one.user: one.error_code
        or sorted((info.mechanism, info.iterations) for info in one.credential_infos)
        for one in connection.call(asked, 0).results
    }


def wait_described(connection: Connection, expected: dict[str, object], *users: str) -> None:
    """A broker that is not the controller hears of a change with the metadata, as in Kafka."""
    wait_until(lambda: described(connection, *users) == expected)


@pytest.mark.feature("SCRAM credentials: set, described, deleted")
@pytest.mark.client("raw requests")
def test_scram(connection: Connection, user: str) -> None:
    assert altered(connection, upsertions=[upsertion(user)]) == {user: 0}
    assert altered(connection, upsertions=[upsertion(user, SHA_512, 8192)]) == {user: 0}
    wait_described(connection, {user: [(SHA_256, 4096), (SHA_512, 8192)]}, user)
    gone = ScramCredentialDeletion(name=user, mechanism=SHA_256)
    assert altered(connection, deletions=[gone]) == {user: 0}
    wait_described(connection, {user: [(SHA_512, 8192)]}, user)
    assert altered(connection, deletions=[gone]) == {user: ErrorCode.RESOURCE_NOT_FOUND}


@pytest.mark.feature("SCRAM credentials that are refused")
@pytest.mark.client("raw requests")
def test_scram_refused(connection: Connection, user: str) -> None:
    others = [f"{user}-{number}" for number in range(4)]
    asked = [
        upsertion(user),
        upsertion(user, SHA_512),
        upsertion(others[0], 7),
        upsertion(others[1], iterations=4095),
        upsertion(others[2], iterations=16385),
        upsertion(others[3]),
        upsertion(""),
    ]
    assert altered(connection, upsertions=asked) == {
        user: ErrorCode.DUPLICATE_RESOURCE,
        others[0]: ErrorCode.UNSUPPORTED_SASL_MECHANISM,
        others[1]: ErrorCode.UNACCEPTABLE_CREDENTIAL,
        others[2]: ErrorCode.UNACCEPTABLE_CREDENTIAL,
        others[3]: ErrorCode.NONE,
        "": ErrorCode.UNACCEPTABLE_CREDENTIAL,
    }
    expected: dict[str, object] = {
        user: ErrorCode.RESOURCE_NOT_FOUND,
        others[3]: [(SHA_256, 4096)],
        others[0]: ErrorCode.DUPLICATE_RESOURCE,
    }
    wait_described(connection, expected, user, others[3], others[0], others[0])


@pytest.mark.feature("SCRAM credentials: set, described, deleted")
@pytest.mark.client("confluent-kafka")
def test_scram_confluent(cluster: Cluster, user: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 5000)
    wanted = UserScramCredentialUpsertion(user, info, b"secret", b"salt")
    admin.alter_user_scram_credentials([wanted])[user].result(10)
    (found,) = admin.describe_user_scram_credentials([user])[user].result(10).scram_credential_infos
    assert (found.mechanism, found.iterations) == (ScramMechanism.SCRAM_SHA_512, 5000)
    unwanted = UserScramCredentialDeletion(user, ScramMechanism.SCRAM_SHA_512)
    admin.alter_user_scram_credentials([unwanted])[user].result(10)
    with pytest.raises(KafkaException, match="does not exist"):
        admin.describe_user_scram_credentials([user])[user].result(10)


@pytest.mark.java
@pytest.mark.feature("SCRAM credentials: set, described, deleted")
@pytest.mark.client("kafka-configs")
def test_scram_tool(tool: Callable[..., str], user: str) -> None:
    whom = ("--entity-type", "users", "--entity-name", user)
    setting = "SCRAM-SHA-256=[iterations=8192,password=secret]"
    assert "Completed" in tool("kafka-configs", *whom, "--alter", "--add-config", setting)
    told = tool("kafka-configs", *whom, "--describe")
    assert f"for user-principal '{user}' are SCRAM-SHA-256=iterations=8192" in told
    tool("kafka-configs", *whom, "--alter", "--delete-config", "SCRAM-SHA-256")
    assert "SCRAM" not in tool("kafka-configs", *whom, "--describe")
