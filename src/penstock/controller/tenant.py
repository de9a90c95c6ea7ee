"""What tenants may have: checked when topics are made, grow, or change their settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.controller.config import ControllerContext
from penstock.model.error import ApiError, ErrorCode
from penstock.settings.tenant import Owners, Tenant, tenants_of

RETENTION_MS, RETENTION_BYTES = "retention.ms", "retention.bytes"
MESSAGE_BYTES = "max.message.bytes"
UNLIMITED = -1


@dataclass(slots=True)
class Use:
    """Of a tenant's limits."""

    topics: int = 0
    partitions: int = 0
    bytes: int = 0


class TenantLimits:
    """For one request: what it has made so far counts as well."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._owner_of = Owners(tenants_of(context.image.configs.broker(None)))
        self._uses: dict[str, Use] = {}

    def defaults(self, topic: str) -> Mapping[str, str]:
        """Settings that a new topic has unless it names others."""
        tenant = self._owner_of(topic)
        return {} if tenant is None else tenant.defaults

    def check_new(self, topic: str, partitions: int, overrides: Mapping[str, str]) -> None:
        tenant = self._owner_of(topic)
        if tenant is None:
            return
        size = self._check_settings(tenant, overrides, partitions)
        self._add(tenant, Use(1, partitions, size))

    def check_growth(self, topic: str, before: int, after: int) -> None:
        tenant = self._owner_of(topic)
        if tenant is None:
            return
        overrides = self._context.image.configs.topic(topic)
        kept = self._kept_bytes(overrides) if tenant.bytes is not None else 0
        self._add(tenant, Use(0, after - before, max(0, kept) * (after - before)))

    def check_change(self, topic: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        tenant = self._owner_of(topic)
        known = self._context.image.topics.get(topic)
        if tenant is None or known is None:
            return
        partitions = len(known.partitions)
        size = self._check_settings(tenant, after, partitions)
        if tenant.bytes is not None:
            now = max(0, self._kept_bytes(before)) * partitions
            self._add(tenant, Use(0, 0, max(0, size - now)))

    def _check_settings(self, tenant: Tenant, overrides: Mapping[str, str], partitions: int) -> int:
        """The bytes that a topic with these may keep."""
        if tenant.retention_ms is not None:
            self._check_most(tenant, overrides, RETENTION_MS, tenant.retention_ms)
        if tenant.message_bytes is not None:
            self._check_most(tenant, overrides, MESSAGE_BYTES, tenant.message_bytes)
        if tenant.bytes is None:
            return 0
        kept = self._kept_bytes(overrides)
        if kept == UNLIMITED:
            raise _refusal(
                tenant,
                f"keeps at most {tenant.bytes} bytes: set {RETENTION_BYTES} (for each partition)",
            )
        return kept * partitions

    def _check_most(
        self, tenant: Tenant, overrides: Mapping[str, str], key: str, most: int
    ) -> None:
        value = self._value(overrides, key)
        if value == UNLIMITED or value > most:
            raise _refusal(tenant, f"{key} is {value}, at most {most} is allowed")

    def _kept_bytes(self, overrides: Mapping[str, str]) -> int:
        return self._value(overrides, RETENTION_BYTES)

    def _value(self, overrides: Mapping[str, str], key: str) -> int:
        """In effect: what the topic sets, or what brokers say for all."""
        return int(self._context.schema.topic_value(overrides, key))

    def _add(self, tenant: Tenant, more: Use) -> None:
        use = self._uses.get(tenant.name)
        if use is None:
            use = self._uses[tenant.name] = self._use_now(tenant)
        for name in ("topics", "partitions", "bytes"):
            most, added = getattr(tenant, name), getattr(more, name)
            if most is not None and added and getattr(use, name) + added > most:
                raise _refusal(
                    tenant,
                    f"has {getattr(use, name)} of {most} {name}, and {added} more are asked for",
                )
        use.topics += more.topics
        use.partitions += more.partitions
        use.bytes += more.bytes

    def _use_now(self, tenant: Tenant) -> Use:
        image, use = self._context.image, Use()
        for name, topic in image.topics.by_name.items():
            if name.startswith(tenant.prefix) and self._owner_of(name) == tenant:
                use.topics += 1
                use.partitions += len(topic.partitions)
                if tenant.bytes is not None:
                    kept = self._kept_bytes(image.configs.topic(name))
                    use.bytes += max(0, kept) * len(topic.partitions)
        return use


def _refusal(tenant: Tenant, reason: str) -> ApiError:
    owner = f" (owner {tenant.owner})" if tenant.owner else ""
    return ApiError(ErrorCode.POLICY_VIOLATION, f"tenant {tenant.name}{owner}: {reason}")
