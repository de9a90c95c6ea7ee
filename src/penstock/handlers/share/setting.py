"""The settings of one share group: its own where it has some, else the broker's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from penstock.handlers.broker import Broker
from penstock.metadata.config import ResourceType
from penstock.replication.partition import READ_COMMITTED, READ_UNCOMMITTED
from penstock.settings.config import BrokerConfig

_DURATION = re.compile(
    r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.ASCII | re.IGNORECASE
)
_UNITS_MS = (86_400_000, 3_600_000, 60_000, 1_000)


class ShareSettings(NamedTuple):
    lock_duration_ms: int
    deliveries_max: int
    locks_max: int
    """Records of a partition that may be under way at once."""
    isolation: int
    offset_reset: str
    may_renew: bool


_LOCK_MS = (
    "share.record.lock.duration.ms",
    "group.share.record.lock.duration.ms",
    "group.share.min.record.lock.duration.ms",
    "group.share.max.record.lock.duration.ms",
)
_DELIVERIES = (
    "share.delivery.count.limit",
    "group.share.delivery.count.limit",
    "group.share.min.delivery.count.limit",
    "group.share.max.delivery.count.limit",
)
_LOCKS = (
    "share.partition.max.record.locks",
    "group.share.partition.max.record.locks",
    "group.share.min.partition.max.record.locks",
    "group.share.max.partition.max.record.locks",
)


def settings_of(broker: Broker, group_id: str) -> ShareSettings:
    own, config = broker.image.configs.of(ResourceType.GROUP, group_id), broker.config
    is_committed = own.get("share.isolation.level", "").lower() == "read_committed"
    return ShareSettings(
        _number(config, own, *_LOCK_MS),
        _number(config, own, *_DELIVERIES),
        _number(config, own, *_LOCKS),
        READ_COMMITTED if is_committed else READ_UNCOMMITTED,
        own.get("share.auto.offset.reset", "latest").lower(),
        own.get("share.renew.acknowledge.enable", "true").lower() == "true",
    )


def _number(
    config: BrokerConfig, own: Mapping[str, str], name: str, default: str, low: str, high: str
) -> int:
    """The broker's limits may have changed since a group's setting was taken: they win."""
    text = own.get(name)
    if text is None:
        return int(config.get(default))
    return max(int(config.get(low)), min(int(text), int(config.get(high))))


def duration_ms(reset: str) -> int | None:
    """Of `by_duration:PT1H`; None for what is none."""
    match = _DURATION.fullmatch(reset.partition(":")[2])
    if match is None:
        return None
    return int(
        sum(float(part or 0) * unit for part, unit in zip(match.groups(), _UNITS_MS, strict=True))
    )
