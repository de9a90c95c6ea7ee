"""Access control entries over Kafka's protocol: read, made and removed; and the words for them."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.cli.failure import Failure
from penstock.cli.operator.link import Link, check
from penstock.metadata.acl import Acl
from penstock.metadata.acl_filter import known
from penstock.model.acl import Operation, PatternType, Permission, ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from penstock.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from penstock.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


def read_acls(
    link: Link,
    resource_type: ResourceType = ResourceType.ANY,
    name: str | None = None,
    principal: str | None = None,
) -> list[Acl]:
    """Those for a name are all that apply to it: prefixes and wildcards, too."""
    request = DescribeAclsRequest(
        resource_type_filter=resource_type,
        resource_name_filter=name,
        pattern_type_filter=PatternType.ANY if name is None else PatternType.MATCH,
        principal_filter=principal,
        host_filter=None,
        operation=Operation.ANY,
        permission_type=Permission.ANY,
    )
    answer = link.call(request, DescribeAclsResponse)
    if answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        raise Failure("entries are shown only to those who may DESCRIBE the cluster")
    check(answer.error_code, answer.error_message)
    return sorted(
        Acl(
            resource.resource_type,
            resource.resource_name,
            resource.pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission_type,
        )
        for resource in answer.resources
        for acl in resource.acls
    )


def add_acls(link: Link, acls: Iterable[Acl]) -> None:
    creations = [
        AclCreation(
            resource_type=acl.resource_type,
            resource_name=acl.resource_name,
            resource_pattern_type=acl.pattern_type,
            principal=acl.principal,
            host=acl.host,
            operation=acl.operation,
            permission_type=acl.permission,
        )
        for acl in acls
    ]
    if not creations:
        return
    for result in link.call(CreateAclsRequest(creations=creations), CreateAclsResponse).results:
        check(result.error_code, result.error_message)


def remove_acls(link: Link, acls: Iterable[Acl]) -> list[Acl]:
    """Those that were there."""
    filters = [
        DeleteAclsFilter(
            resource_type_filter=acl.resource_type,
            resource_name_filter=acl.resource_name,
            pattern_type_filter=acl.pattern_type,
            principal_filter=acl.principal,
            host_filter=acl.host,
            operation=acl.operation,
            permission_type=acl.permission,
        )
        for acl in acls
    ]
    if not filters:
        return []
    removed: list[Acl] = []
    answer = link.call(DeleteAclsRequest(filters=filters), DeleteAclsResponse)
    for result in answer.filter_results:
        check(result.error_code, result.error_message)
        for one in result.matching_acls:
            check(one.error_code, one.error_message)
            removed.append(
                Acl(
                    one.resource_type,
                    one.resource_name,
                    one.pattern_type,
                    one.principal,
                    one.host,
                    one.operation,
                    one.permission_type,
                )
            )
    return sorted(removed)


def told(acl: Acl) -> str:
    """One line: `allow User:alice to READ topic orders from anywhere`."""
    verb = "allow" if acl.permission == Permission.ALLOW else "deny"
    return f"{verb} {acl.principal} to {grant_words(acl)}"


def grant_words(acl: Acl) -> str:
    """Without who: `READ topic orders from anywhere`."""
    where = "anywhere" if acl.host == "*" else acl.host
    return f"{operation_word(acl.operation)} {resource_words(acl)} from {where}"


def operation_word(operation: int) -> str:
    return Operation(known(Operation, operation)).name


def resource_words(acl: Acl) -> str:
    kind = type_word(acl.resource_type)
    if acl.resource_type == ResourceType.CLUSTER:
        return "the cluster"
    if acl.pattern_type == PatternType.PREFIXED:
        return f"every {kind} that begins with {acl.resource_name}"
    return f"every {kind}" if acl.resource_name == "*" else f"{kind} {acl.resource_name}"


def type_word(resource_type: int) -> str:
    return ResourceType(known(ResourceType, resource_type)).name.lower().replace("_", " ")


def document(acl: Acl) -> dict[str, str]:
    return {
        "resource_type": ResourceType(known(ResourceType, acl.resource_type)).name,
        "resource_name": acl.resource_name,
        "pattern_type": PatternType(known(PatternType, acl.pattern_type)).name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": operation_word(acl.operation),
        "permission": Permission(known(Permission, acl.permission)).name,
    }


def acl_row(acl: Acl) -> tuple[str, ...]:
    """What a table shows of it, behind whom it is for."""
    return (
        Permission(acl.permission).name.lower(),
        operation_word(acl.operation),
        type_word(acl.resource_type),
        acl.resource_name + ("..." if acl.pattern_type == PatternType.PREFIXED else ""),
        acl.host,
    )
