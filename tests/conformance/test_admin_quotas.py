"""Quotas and credentials, where none are set."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from penstock.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from tests.conformance.clients.raw import Connection

EXACT, DEFAULT, SPECIFIED = 0, 1, 2
INVALID = ErrorCode.INVALID_REQUEST


def component(kind: str, match_type: int = SPECIFIED, match: str | None = None) -> ComponentData:
    return ComponentData(entity_type=kind, match_type=match_type, match=match)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    "components",
    [
        [],
        [component("user"), component("client-id", DEFAULT)],
        [component("client-id", EXACT, "nobody")],
        [component("ip")],
    ],
    ids=["all", "two", "named", "ip"],
)
@pytest.mark.feature("Describe quotas of clients, users and addresses")
@pytest.mark.client("raw requests")
def test_no_quotas(connection: Connection, components: list[ComponentData], version: int) -> None:
    request = DescribeClientQuotasRequest(components=components, strict=True)
    said = connection.call(request, version)
    assert (said.error_code, said.error_message, said.entries) == (0, "", [])


@pytest.mark.parametrize(
    ("components", "code", "message"),
    [
        ([component("")], INVALID, "Invalid empty entity type."),
        ([component("user")] * 2, INVALID, "user cannot appear more than once in the filter."),
        ([component("house")], ErrorCode.UNSUPPORTED_VERSION, "Unsupported entity type house"),
        ([component("user", 7)], INVALID, "Unknown match type 7"),
        ([component("user", EXACT)], INVALID, "MATCH_TYPE_EXACT, but set match string to null."),
        ([component("user", DEFAULT, "a")], INVALID, "DEFAULT, but also specified a match string."),
        ([component("user", SPECIFIED, "a")], INVALID, "SPECIFIED, but also specified a match"),
        ([component("ip"), component("user")], INVALID, "IP filter component should not be used"),
    ],
)
@pytest.mark.feature("A question for quotas that makes no sense (INVALID_REQUEST)")
@pytest.mark.client("raw requests")
def test_refused(
    connection: Connection, components: list[ComponentData], code: ErrorCode, message: str
) -> None:
    said = connection.call(DescribeClientQuotasRequest(components=components), 1)
    assert (said.error_code, said.entries) == (code, None)
    assert message in said.error_message


@pytest.mark.feature("Describe credentials of users: nobody has any (RESOURCE_NOT_FOUND)")
@pytest.mark.client("raw requests")
def test_no_credentials(connection: Connection) -> None:
    everybody = connection.call(DescribeUserScramCredentialsRequest(users=None), 0)
    assert (everybody.error_code, everybody.error_message, everybody.results) == (0, "", [])
    users = [UserName(name=name) for name in ("alice", "bob", "bob")]
    said = connection.call(DescribeUserScramCredentialsRequest(users=users), 0)
    found = {one.user: (one.error_code, one.error_message) for one in said.results}
    missing = "Attempt to describe a user credential that does not exist: alice"
    twice = "Cannot describe SCRAM credentials for the same user twice in a single request: bob"
    assert found == {
        "alice": (ErrorCode.RESOURCE_NOT_FOUND, missing),
        "bob": (ErrorCode.DUPLICATE_RESOURCE, twice),
    }


@pytest.mark.java
@pytest.mark.parametrize("kind", ["clients", "users", "ips"])
@pytest.mark.feature("--describe of clients, users and ips says nothing")
@pytest.mark.client("kafka-configs")
def test_tool(tool: Callable[..., str], kind: str) -> None:
    assert tool("kafka-configs", "--describe", "--entity-type", kind).strip() == ""
