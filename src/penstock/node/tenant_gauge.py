"""What tenants have, and what they may have, for whoever scrapes a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from penstock.metadata.image import ClusterImage
from penstock.settings.config import BrokerConfig
from penstock.settings.resolve import topic_value
from penstock.settings.tenant import Owners, Tenant, tenants_of
from penstock.telemetry.metric import LabelledGauge

LIMITS: Final = ("topics", "partitions", "bytes")
_LABELS: Final = ("tenant", "limit")
_Rows = Iterator[tuple[tuple[str, ...], float]]


def tenant_gauges(image: ClusterImage, config: Callable[[], BrokerConfig]) -> list[LabelledGauge]:
    def tenants() -> list[Tenant]:
        return tenants_of(image.configs.broker(None))

    def most() -> _Rows:
        for tenant in tenants():
            for limit in LIMITS:
                value = getattr(tenant, limit)
                if value is not None:
                    yield (tenant.name, limit), float(value)

    return [
        (
            "penstock_tenant_used",
            "What a tenant has of what it may have; bytes are those that its topics may keep",
            _LABELS,
            lambda: _used(image, config(), tenants()),
        ),
        ("penstock_tenant_limit", "What a tenant may have", _LABELS, most),
    ]


def _used(image: ClusterImage, config: BrokerConfig, tenants: list[Tenant]) -> _Rows:
    if not tenants:
        return
    owner_of = Owners(tenants)
    sums = {each.name: dict.fromkeys(LIMITS, 0.0) for each in tenants}
    for name, topic in image.topics.by_name.items():
        tenant = owner_of(name)
        if tenant is None:
            continue
        count = len(topic.partitions)
        kept = topic_value(config, image.configs.topic(name), "retention.bytes")
        one = sums[tenant.name]
        one["topics"] += 1
        one["partitions"] += count
        one["bytes"] += float("inf") if kept < 0 else kept * count
    for name, one in sums.items():
        yield from (((name, limit), value) for limit, value in one.items())
