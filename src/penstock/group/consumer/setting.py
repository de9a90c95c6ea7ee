"""The settings of one group: its own where it has some, else the broker's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from penstock.group.config import GroupConfig

Overrides = Callable[[str], Mapping[str, str]]
"""Settings of a group by name, as they were set for the resource type GROUP."""

Kind = Literal["consumer", "share"]


class ConsumerSettings(NamedTuple):
    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int


def no_overrides(_: str) -> Mapping[str, str]:
    return {}


def settings_of(
    config: GroupConfig, overrides: Mapping[str, str], kind: Kind = "consumer"
) -> ConsumerSettings:
    """The broker's limits may have changed since a group's setting was taken: they win."""
    if not overrides and kind == "consumer":
        return ConsumerSettings(
            config.group_consumer_session_timeout_ms,
            config.group_consumer_heartbeat_interval_ms,
            config.group_consumer_assignment_interval_ms,
        )
    return ConsumerSettings(
        _within(config, overrides, kind, "session.timeout.ms"),
        _within(config, overrides, kind, "heartbeat.interval.ms"),
        _within(config, overrides, kind, "assignment.interval.ms"),
    )


def _within(config: GroupConfig, overrides: Mapping[str, str], kind: Kind, name: str) -> int:
    field, text = name.replace(".", "_"), overrides.get(f"{kind}.{name}")
    if text is None:
        return int(getattr(config, f"group_{kind}_{field}"))
    lowest = int(getattr(config, f"group_{kind}_min_{field}"))
    highest = int(getattr(config, f"group_{kind}_max_{field}"))
    return max(lowest, min(int(text), highest))
