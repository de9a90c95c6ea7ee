"""The settings of one group: its own where it has some, else the broker's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from penstock.group.config import GroupConfig

Overrides = Callable[[str], Mapping[str, str]]
"""Settings of a group by name, as they were set for the resource type GROUP."""


class ConsumerSettings(NamedTuple):
    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int


_CONSUMER = (
    "consumer.session.timeout.ms",
    "consumer.heartbeat.interval.ms",
    "consumer.assignment.interval.ms",
)
_SHARE = (
    "share.session.timeout.ms",
    "share.heartbeat.interval.ms",
    "share.assignment.interval.ms",
)


def no_overrides(_: str) -> Mapping[str, str]:
    return {}


def settings_of(config: GroupConfig, overrides: Mapping[str, str]) -> ConsumerSettings:
    if not overrides:
        return ConsumerSettings(
            config.group_consumer_session_timeout_ms,
            config.group_consumer_heartbeat_interval_ms,
            config.group_consumer_assignment_interval_ms,
        )
    return ConsumerSettings(*(kept_within(config, overrides, name) for name in _CONSUMER))


def share_settings_of(config: GroupConfig, overrides: Mapping[str, str]) -> ConsumerSettings:
    return ConsumerSettings(*(kept_within(config, overrides, name) for name in _SHARE))


def kept_within(config: GroupConfig, overrides: Mapping[str, str], name: str) -> int:
    """The broker's limits may have changed since a group's setting was taken: they win."""
    text = overrides.get(name)
    kind, _, rest = name.replace(".", "_").partition("_")
    if text is None:
        return int(getattr(config, f"group_{kind}_{rest}"))
    lowest = int(getattr(config, f"group_{kind}_min_{rest}"))
    highest = int(getattr(config, f"group_{kind}_max_{rest}"))
    return max(lowest, min(int(text), highest))
