"""Access control, where none is configured."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from penstock.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from penstock.protocol.messages.describe_acls import DescribeAclsRequest
from tests.conformance.clients.raw import Connection

TOPIC, LITERAL, READ, ALLOW, ANY = 2, 3, 3, 3, 1
REFUSED = (ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
versions = pytest.mark.parametrize("version", [1, 2, 3])


@versions
@pytest.mark.feature("Describe access control lists (SECURITY_DISABLED)")
@pytest.mark.client("raw requests")
def test_describe(connection: Connection, version: int) -> None:
    request = DescribeAclsRequest(
        resource_type_filter=ANY,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )
    said = connection.call(request, version)
    assert said.error_code == ErrorCode.SECURITY_DISABLED
    assert said.error_message == "No Authorizer is configured on the broker"
    assert said.resources == []


@versions
@pytest.mark.feature("Create access control lists (SECURITY_DISABLED)")
@pytest.mark.client("raw requests")
def test_create(connection: Connection, version: int) -> None:
    wanted = AclCreation(
        resource_type=TOPIC,
        resource_name="orders",
        resource_pattern_type=LITERAL,
        principal="User:alice",
        host="*",
        operation=READ,
        permission_type=ALLOW,
    )
    said = connection.call(CreateAclsRequest(creations=[wanted] * 2), version)
    assert [(one.error_code, one.error_message) for one in said.results] == [REFUSED] * 2


@versions
@pytest.mark.feature("Delete access control lists (SECURITY_DISABLED)")
@pytest.mark.client("raw requests")
def test_delete(connection: Connection, version: int) -> None:
    unwanted = DeleteAclsFilter(
        resource_type_filter=TOPIC,
        resource_name_filter="orders",
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )
    said = connection.call(DeleteAclsRequest(filters=[unwanted]), version)
    assert [(one.error_code, one.error_message) for one in said.filter_results] == [REFUSED]
    assert said.filter_results[0].matching_acls == []


@pytest.mark.java
@pytest.mark.feature("--list, --add and --remove are refused")
@pytest.mark.client("kafka-acls")
def test_tool(tool: Callable[..., str]) -> None:
    rule = ["--allow-principal", "User:alice", "--operation", "Read", "--topic", "orders"]
    for action in (["--list"], ["--add", *rule], ["--remove", "--force", *rule]):
        assert "SecurityDisabledException: No Authorizer is configured" in tool(
            "kafka-acls", *action, fails=True
        )
