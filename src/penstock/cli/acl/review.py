"""What the entries of a cluster allow beyond what was done with them. Pure.

What was done is read from the audit log. Looking (DESCRIBE and the like) is not on record there
unless it was refused: entries for nothing else are never called unused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from penstock.cli.acl.role import is_of_roles
from penstock.cli.audit import Line
from penstock.metadata.acl import Acl
from penstock.model.acl import (
    CLUSTER_NAME,
    OPERATIONS,
    WILDCARD,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from penstock.security.authorizer import EVERYBODY, Authorizer

WIDE, UNUSED, MORE = "wildcard", "unused", "more than needed"
_LOOKING: Final = frozenset({Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS})
_ALSO_BY_CLUSTER: Final = frozenset({Operation.CREATE, Operation.ALTER})
"""Topics are made and moved also by who may do that in the whole cluster."""
_NAMES_SHOWN: Final = 3


class Use(NamedTuple):
    """Something that was allowed, and done."""

    principal: str
    host: str
    operation: Operation
    resource_type: ResourceType
    name: str


class Finding(NamedTuple):
    kind: str
    acl: Acl
    why: str


class Review(NamedTuple):
    findings: list[Finding]
    least: Mapping[str, list[Acl]]
    """Of principals that have more: entries that would have sufficed."""


def uses_of(lines: Iterable[Line]) -> frozenset[Use]:
    found = (_use(line) for line in lines if line.get("outcome") == "allowed")
    return frozenset(each for each in found if each is not None)


def _use(line: Line) -> Use | None:
    operation = Operation.__members__.get(line.get("operation", ""))
    kind = ResourceType.__members__.get(line.get("resource_type", ""))
    name = line.get("resource")
    if line["kind"] == "change" and kind not in (ResourceType.TOPIC, ResourceType.GROUP):
        # Users, quotas, entries, settings of brokers: all of them are changes of the cluster.
        kind, name = ResourceType.CLUSTER, CLUSTER_NAME
    if operation is None or kind is None or operation not in OPERATIONS.get(kind, ()):
        return None
    return Use(str(line.get("principal")), str(line.get("host")), operation, kind, str(name))


def review(acls: Iterable[Acl], uses: Iterable[Use]) -> Review:
    grants = [acl for acl in acls if acl.permission == Permission.ALLOW and not is_of_roles(acl)]
    used = _used(grants, uses)
    findings: list[Finding] = []
    for acl in grants:
        if why := _wildcards(acl):
            findings.append(Finding(WIDE, acl, why))
        done = used.get(acl)
        if done is None and acl.operation not in _LOOKING:
            findings.append(Finding(UNUSED, acl, "nobody used it"))
        elif done is not None and _is_broad(acl):
            findings.append(Finding(MORE, acl, f"used for {_told(done)}"))
    return Review(findings, _least(grants, used, findings))


def _used(grants: list[Acl], uses: Iterable[Use]) -> dict[Acl, set[Use]]:
    """By entry; a use that several allow counts for each of them."""
    authorizer = Authorizer(acls=grants)
    found: dict[Acl, set[Use]] = {}
    for use in uses:
        for acl in _granting(authorizer, use):
            found.setdefault(acl, set()).add(use)
    return found


def _granting(authorizer: Authorizer, use: Use) -> list[Acl]:
    granting = list(authorizer.matching(*use))
    if use.resource_type == ResourceType.TOPIC and use.operation in _ALSO_BY_CLUSTER:
        cluster = use._replace(resource_type=ResourceType.CLUSTER, name=CLUSTER_NAME)
        granting += authorizer.matching(*cluster)
    return granting


def _wildcards(acl: Acl) -> str:
    said = []
    if acl.principal == EVERYBODY:
        said.append("everybody")
    if acl.pattern_type == PatternType.LITERAL and acl.resource_name == WILDCARD:
        said.append("every name")
    if acl.operation == Operation.ALL:
        said.append("everything")
    return ", ".join(said)


def _is_broad(acl: Acl) -> bool:
    return bool(_wildcards(acl)) or acl.pattern_type == PatternType.PREFIXED


def _told(uses: set[Use]) -> str:
    operations = ", ".join(sorted({use.operation.name for use in uses}))
    names = sorted({use.name for use in uses})
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f"{operations} of {', '.join(names[:_NAMES_SHOWN])}{more}"


def _least(
    grants: list[Acl], used: Mapping[Acl, set[Use]], findings: list[Finding]
) -> dict[str, list[Acl]]:
    """What is exactly enough, and what only looks."""
    least: dict[str, set[Acl]] = {}
    for acl, uses in used.items():
        for use in uses:
            least.setdefault(use.principal, set()).add(_exact(acl, use))
    for acl in grants:
        if acl.operation in _LOOKING:
            least.setdefault(acl.principal, set()).add(acl)
    for finding in findings:
        least.setdefault(finding.acl.principal, set())
    least.pop(EVERYBODY, None)
    now: dict[str, set[Acl]] = {}
    for acl in grants:
        now.setdefault(acl.principal, set()).add(acl)
    return {
        principal: sorted(acls)
        for principal, acls in sorted(least.items())
        if acls != now.get(principal, set())
    }


def _exact(acl: Acl, use: Use) -> Acl:
    is_for_cluster = acl.resource_type == ResourceType.CLUSTER and use.operation != Operation.CREATE
    return acl._replace(
        resource_type=acl.resource_type if is_for_cluster else use.resource_type,
        resource_name=acl.resource_name if is_for_cluster else use.name,
        pattern_type=PatternType.LITERAL,
        principal=use.principal,
        operation=use.operation,
    )
