"""CreateAcls and DeleteAcls: the answers of Kafka's controller, and what is in the log."""

from __future__ import annotations

import pytest

from penstock.metadata.acl import Acl
from penstock.metadata.image import ClusterImage
from penstock.model.acl import Operation, PatternType, Permission, ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from penstock.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from tests.unit.controller.controller_kit import Controller


def creation(**fields: int | str) -> AclCreation:
    given: dict[str, int | str] = {
        "resource_type": ResourceType.TOPIC,
        "resource_name": "orders",
        "resource_pattern_type": PatternType.LITERAL,
        "principal": "User:alice",
        "host": "*",
        "operation": Operation.READ,
        "permission_type": Permission.ALLOW,
        **fields,
    }
    return AclCreation(**given)  # type: ignore[arg-type]


def create(controller: Controller, *creations: AclCreation) -> list[tuple[int, str | None]]:
    request = CreateAclsRequest(creations=creations)
    results = controller.do(lambda shard: shard.decide_create_acls(request)).results
    return [(result.error_code, result.error_message) for result in results]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"resource_type": 1}, "Invalid resourceType ANY"),
        ({"resource_type": 99}, "Invalid resourceType UNKNOWN"),
        ({"resource_pattern_type": 2}, "Invalid patternType MATCH"),
        ({"operation": 1}, "Invalid operation ANY"),
        ({"operation": 99}, "Invalid operation UNKNOWN"),
        ({"permission_type": 1}, "Invalid permissionType ANY"),
        ({"resource_name": ""}, "Invalid empty resource name"),
        (
            {"resource_type": 4, "resource_name": "mine"},
            "The only valid name for the CLUSTER resource is kafka-cluster",
        ),
        (
            {"principal": "alice"},
            (
                "Could not parse principal from `alice` (no colon is present separating the "
                "principal type from the principal name)"
            ),
        ),
    ],
)
def test_what_no_entry_can_be(fields: dict[str, int | str], message: str) -> None:
    controller = Controller()
    good, bad = create(controller, creation(), creation(**fields))
    assert good == (ErrorCode.NONE, "")
    assert bad == (ErrorCode.INVALID_REQUEST, message)
    assert len(controller.image.security.acls) == 1


def test_an_entry_is_there_once() -> None:
    controller = Controller()
    assert create(controller, creation(), creation()) == [(0, ""), (0, "")]
    assert create(controller, creation()) == [(0, "")]
    assert len(controller.image.security.acls) == 1


def delete(controller: Controller, **fields: int | str | None) -> list[str] | int:
    """Names of what went, or the error."""
    given: dict[str, int | str | None] = {
        "resource_type_filter": ResourceType.ANY,
        "resource_name_filter": None,
        "pattern_type_filter": PatternType.ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": Operation.ANY,
        "permission_type": Permission.ANY,
        **fields,
    }
    request = DeleteAclsRequest(filters=[DeleteAclsFilter(**given)])  # type: ignore[arg-type]
    (result,) = controller.do(lambda shard: shard.decide_delete_acls(request)).filter_results
    names = sorted(acl.resource_name for acl in result.matching_acls)
    return result.error_code or names


PREFIXED = PatternType.PREFIXED


@pytest.mark.parametrize(
    ("fields", "gone"),
    [
        ({}, ["*", "or", "orders", "orders"]),
        ({"resource_name_filter": "orders"}, ["orders", "orders"]),
        (
            {"resource_name_filter": "orders", "pattern_type_filter": PatternType.MATCH},
            ["*", "or", "orders", "orders"],
        ),
        ({"resource_name_filter": "or", "pattern_type_filter": PREFIXED}, ["or"]),
        ({"resource_name_filter": "orders", "pattern_type_filter": PREFIXED}, []),
        ({"pattern_type_filter": PREFIXED}, ["or"]),
        ({"principal_filter": "User:bob"}, ["orders"]),
        ({"principal_filter": "User:"}, []),
        ({"host_filter": "10.0.0.1"}, ["or"]),
        ({"operation": Operation.WRITE}, ["*"]),
        ({"permission_type": Permission.DENY}, ["orders"]),
        ({"resource_type_filter": ResourceType.GROUP}, []),
        ({"resource_type_filter": 99}, ErrorCode.INVALID_REQUEST),
        ({"operation": 99}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_a_filter_means(fields: dict[str, int | str | None], gone: list[str] | int) -> None:
    controller = Controller()
    create(
        controller,
        creation(),
        creation(principal="User:bob", permission_type=Permission.DENY),
        creation(resource_name="*", operation=Operation.WRITE),
        creation(resource_name="or", resource_pattern_type=PREFIXED, host="10.0.0.1"),
    )
    assert delete(controller, **fields) == gone
    left = 4 if isinstance(gone, int) else 4 - len(gone)
    assert len(controller.image.security.acls) == left


def test_a_copy_goes_its_own_way_and_a_watcher_hears_of_each() -> None:
    controller = Controller()
    create(controller, creation(), creation(resource_name="b"))
    image = ClusterImage()
    heard: list[tuple[Acl | None, Acl | None]] = []
    image.security.acls.watcher = lambda gone, come: heard.append((gone, come))
    image.replace(controller.image)
    assert [come.resource_name for _, come in heard if come] == ["orders", "b"]
    assert image.security == controller.image.security
    delete(controller, resource_name_filter="b")
    assert len(image.security.acls) == 2
    heard.clear()
    image.replace(controller.image)
    assert [gone.resource_name for gone, _ in heard if gone] == ["b"]
    assert len(heard) == 1
