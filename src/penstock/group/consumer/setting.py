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


def no_overrides(_: str) -> Mapping[str, str]:
    return {}


def settings_of(config: GroupConfig, overrides: Mapping[str, str]) -> ConsumerSettings:
    """The broker's limits may have changed since a group's setting was taken: they win."""
    if not overrides:
        return ConsumerSettings(
            config.group_consumer_session_timeout_ms,
            config.group_consumer_heartbeat_interval_ms,
            config.group_consumer_assignment_interval_ms,
        )
    return ConsumerSettings(
        within(
            overrides.get("consumer.session.timeout.ms"),
            config.group_consumer_session_timeout_ms,
            config.group_consumer_min_session_timeout_ms,
            config.group_consumer_max_session_timeout_ms,
        ),
        within(
            overrides.get("consumer.heartbeat.interval.ms"),
            config.group_consumer_heartbeat_interval_ms,
            config.group_consumer_min_heartbeat_interval_ms,
            config.group_consumer_max_heartbeat_interval_ms,
        ),
        within(
            overrides.get("consumer.assignment.interval.ms"),
            config.group_consumer_assignment_interval_ms,
            config.group_consumer_min_assignment_interval_ms,
            config.group_consumer_max_assignment_interval_ms,
        ),
    )


def within(text: str | None, default: int, lowest: int, highest: int) -> int:
    return default if text is None else max(lowest, min(int(text), highest))
