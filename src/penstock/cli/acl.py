"""Access control entries over Kafka's protocol: read, made and removed; and the words for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from penstock.cli.cluster import Cluster, reason
from penstock.cli.failure import Failure
from penstock.metadata.acl import Acl
from penstock.model.acl import Operation, PatternType, Permission, ResourceType

if TYPE_CHECKING:
    from confluent_kafka.admin import AclBinding, AclBindingFilter


def read_acls(
    cluster: Cluster,
    resource_type: ResourceType = ResourceType.ANY,
    name: str | None = None,
    principal: str | None = None,
) -> list[Acl]:
    """Those for a name are all that apply to it: prefixes and wildcards, too."""
    wanted = _filter(
        Acl(
            resource_type,
            name,  # type: ignore[arg-type]
            PatternType.ANY if name is None else PatternType.MATCH,
            principal,  # type: ignore[arg-type]
            None,  # type: ignore[arg-type]
            Operation.ANY,
            Permission.ANY,
        )
    )
    found = _settle(cluster, cluster.admin().describe_acls(wanted, **_timeout(cluster)))
    if not found:
        _check_readable(cluster)
    return sorted(_acl(binding) for binding in found)


def _check_readable(cluster: Cluster) -> None:
    """The library shows an empty list also to whom the brokers refused it."""
    from confluent_kafka.admin import AclOperation

    asked = cluster.admin().describe_cluster(include_authorized_operations=True)
    operations = _settle(cluster, asked).authorized_operations or ()
    if AclOperation.DESCRIBE not in operations:
        raise Failure("entries are shown only to those who may DESCRIBE the cluster")


def add_acls(cluster: Cluster, acls: Iterable[Acl]) -> None:
    bindings = [_binding(acl) for acl in acls]
    for future in cluster.admin().create_acls(bindings, **_timeout(cluster)).values():
        _settle(cluster, future)


def remove_acls(cluster: Cluster, acls: Iterable[Acl]) -> list[Acl]:
    """Those that were there."""
    filters = [_filter(acl) for acl in acls]
    removed: list[Acl] = []
    for future in cluster.admin().delete_acls(filters, **_timeout(cluster)).values():
        removed += [_acl(binding) for binding in _settle(cluster, future)]
    return sorted(removed)


def told(acl: Acl) -> str:
    """One line: `allow User:alice to READ topic orders from anywhere`."""
    verb = "allow" if acl.permission == Permission.ALLOW else "deny"
    where = "anywhere" if acl.host == "*" else acl.host
    return (
        f"{verb} {acl.principal} to {operation_word(acl.operation)} {resource_words(acl)} "
        f"from {where}"
    )


def operation_word(operation: int) -> str:
    return Operation(operation).name


def resource_words(acl: Acl) -> str:
    kind = type_word(acl.resource_type)
    if acl.resource_type == ResourceType.CLUSTER:
        return "the cluster"
    if acl.pattern_type == PatternType.PREFIXED:
        return f"every {kind} that begins with {acl.resource_name}"
    return f"every {kind}" if acl.resource_name == "*" else f"{kind} {acl.resource_name}"


def type_word(resource_type: int) -> str:
    return ResourceType(resource_type).name.lower().replace("_", " ")


def document(acl: Acl) -> dict[str, str]:
    return {
        "resource_type": ResourceType(acl.resource_type).name,
        "resource_name": acl.resource_name,
        "pattern_type": PatternType(acl.pattern_type).name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": Operation(acl.operation).name,
        "permission": Permission(acl.permission).name,
    }


def _timeout(cluster: Cluster) -> dict[str, float]:
    return {"request_timeout": cluster.timeout_s}


def _settle(cluster: Cluster, future: Any) -> Any:
    from confluent_kafka import KafkaException

    try:
        return future.result(cluster.timeout_s + 5)
    except KafkaException as error:
        cause = error.args[0]
        if cause.code() > 0:
            raise Failure(reason(cause)) from error
        raise cluster.explain(error) from error


def _words(acl: Acl) -> tuple[Any, ...]:
    from confluent_kafka import admin

    return (
        admin.ResourceType(acl.resource_type),
        acl.resource_name,
        admin.ResourcePatternType(acl.pattern_type),
        acl.principal,
        acl.host,
        admin.AclOperation(acl.operation),
        admin.AclPermissionType(acl.permission),
    )


def _binding(acl: Acl) -> AclBinding:
    from confluent_kafka.admin import AclBinding

    return AclBinding(*_words(acl))


def _filter(acl: Acl) -> AclBindingFilter:
    from confluent_kafka.admin import AclBindingFilter

    return AclBindingFilter(*_words(acl))


def _acl(binding: Any) -> Acl:
    return Acl(
        binding.restype.value,
        binding.name,
        binding.resource_pattern_type.value,
        binding.principal,
        binding.host,
        binding.operation.value,
        binding.permission_type.value,
    )
