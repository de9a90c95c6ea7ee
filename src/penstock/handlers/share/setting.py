"""The settings of one share group: its own where it has some, else the broker's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from penstock.handlers.broker import Broker
from penstock.metadata.config import ResourceType
from penstock.replication.partition import READ_COMMITTED, READ_UNCOMMITTED

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


def settings_of(broker: Broker, group_id: str) -> ShareSettings:
    own = broker.image.configs.of(ResourceType.GROUP, group_id)
    is_committed = own.get("share.isolation.level", "").lower() == "read_committed"
    return ShareSettings(
        _number(broker, own, "record.lock.duration.ms"),
        _number(broker, own, "delivery.count.limit"),
        _number(broker, own, "partition.max.record.locks"),
        READ_COMMITTED if is_committed else READ_UNCOMMITTED,
        own.get("share.auto.offset.reset", "latest").lower(),
        own.get("share.renew.acknowledge.enable", "true").lower() == "true",
    )


def _number(broker: Broker, own: Mapping[str, str], name: str) -> int:
    """The broker's limits may have changed since a group's setting was taken: they win."""
    text = own.get(f"share.{name}")
    config = broker.config
    if text is None:
        return int(config.get(f"group.share.{name}"))
    lowest = int(config.get(f"group.share.min.{name}"))
    highest = int(config.get(f"group.share.max.{name}"))
    return max(lowest, min(int(text), highest))


def duration_ms(reset: str) -> int | None:
    """Of `by_duration:PT1H`; None for what is none."""
    match = _DURATION.fullmatch(reset.partition(":")[2])
    if match is None:
        return None
    return int(
        sum(float(part or 0) * unit for part, unit in zip(match.groups(), _UNITS_MS, strict=True))
    )
