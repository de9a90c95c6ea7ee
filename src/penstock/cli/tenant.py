"""Tenants of a cluster: kept and removed, with the grants and quotas of their users, and what they
use. Which there are is read by `tenant_list`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.cli.acl.entry import add_acls, remove_acls
from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.operator.link import Link, check
from penstock.cli.operator.setting import topic_settings
from penstock.cli.quota import alter_quota
from penstock.cli.tenant_list import ALL_BROKERS, BROKER
from penstock.metadata.acl import Acl
from penstock.model.acl import Operation, PatternType, Permission, ResourceType
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from penstock.settings.synonym import TENANT_PREFIX
from penstock.settings.tenant import Owners, Tenant

_SET, _DELETE = 0, 1
_OWNED: Final = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
_BYTES: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
LIMITS: Final = ("topics", "partitions", "bytes")


@dataclass(frozen=True, slots=True)
class Use:
    """What a tenant has of its limits; bytes are those that its topics may keep, None for some
    that may keep any number."""

    topics: int
    partitions: int
    bytes: int | None


def keep_tenant(link: Link, tenant: Tenant) -> None:
    _alter(link, tenant.name, tenant.text())


def forget_tenant(link: Link, name: str) -> None:
    _alter(link, name, None)


def _alter(link: Link, name: str, text: str | None) -> None:
    config = AlterableConfig(
        name=TENANT_PREFIX + name, value=text, config_operation=_DELETE if text is None else _SET
    )
    resource = AlterConfigsResource(
        resource_type=BROKER, resource_name=ALL_BROKERS, configs=[config]
    )
    request = IncrementalAlterConfigsRequest(resources=[resource])
    for each in link.call(request, IncrementalAlterConfigsResponse).responses:
        check(each.error_code, each.error_message)


def grants(prefix: str, users: Iterable[str]) -> list[Acl]:
    """All that its users need under its prefix, where they make topics themselves."""
    return [
        Acl(
            kind,
            prefix,
            PatternType.PREFIXED,
            f"User:{user}",
            "*",
            Operation.ALL,
            Permission.ALLOW,
        )
        for user in users
        for kind in _OWNED
    ]


def grant(link: Link, tenant: Tenant, users: Iterable[str]) -> bool:
    """False where the brokers have no authorizer, so that nobody needs a grant."""
    return _unless_open(lambda: add_acls(link, grants(tenant.prefix, users)))


def revoke(link: Link, tenant: Tenant, users: Iterable[str]) -> bool:
    return _unless_open(lambda: remove_acls(link, grants(tenant.prefix, users)))


def _unless_open(change: Any) -> bool:
    try:
        change()
    except Failure as failure:
        if "No Authorizer" not in str(failure) and "SECURITY_DISABLED" not in str(failure):
            raise
        return False
    return True


def set_rates(link: Link, users: Iterable[str], rates: Mapping[str, float | None]) -> None:
    for user in users if rates else ():
        alter_quota(link, (("user", user),), rates)


def uses(cluster: Cluster, link: Link, tenants: list[Tenant]) -> dict[str, Use]:
    """By name."""
    topics: dict[str, dict[str, int]] = {each.name: {} for each in tenants}
    owner_of = Owners(tenants)
    for topic, described in cluster.metadata().topics.items():
        tenant = owner_of(topic)
        if tenant is not None:
            topics[tenant.name][topic] = len(described.partitions)
    names = [topic for owned in topics.values() for topic in owned]
    kept = topic_settings(link, names, "retention.bytes")
    return {
        name: Use(len(owned), sum(owned.values()), _kept_bytes(owned, kept))
        for name, owned in topics.items()
    }


def _kept_bytes(partitions: Mapping[str, int], kept: Mapping[str, str]) -> int | None:
    sizes = [int(kept.get(topic) or -1) * count for topic, count in partitions.items()]
    return None if any(size < 0 for size in sizes) else sum(sizes)


def parse_size(text: str, option: str) -> int:
    """Bytes: 500, 20K, 10M, 5G."""
    match = re.fullmatch(r"([0-9]+) ?([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise UsageFailure(f"{option} {text}: expected bytes such as 500, 20K, 10M or 5G")
    return int(match[1]) * _BYTES[match[2].upper()]


def parse_duration(text: str, option: str) -> int:
    """Milliseconds: 500ms, 30s, 10m, 12h, 7d."""
    match = re.fullmatch(r"([0-9]+) ?(ms|s|m|h|d)", text.strip())
    if match is None:
        raise UsageFailure(f"{option} {text}: expected a time such as 30m, 12h or 7d")
    return int(match[1]) * _MS[match[2]]
