"""The settings of one streams group: its own where it has some, else the broker's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from penstock.group.config import GroupConfig
from penstock.group.consumer.setting import kept_within

STANDBY_REPLICAS = "num.standby.replicas"
_LIMITED = (
    "streams.session.timeout.ms",
    "streams.heartbeat.interval.ms",
    "streams.assignment.interval.ms",
)


class StreamsSettings(NamedTuple):
    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    initial_rebalance_delay_ms: int
    num_standby_replicas: int

    @property
    def configs(self) -> dict[str, str]:
        """What an assignment depends on, as the log keeps it."""
        return {STANDBY_REPLICAS: str(self.num_standby_replicas)}


def settings_of(config: GroupConfig, overrides: Mapping[str, str]) -> StreamsSettings:
    delay = overrides.get(
        "streams.initial.rebalance.delay.ms", config.group_streams_initial_rebalance_delay_ms
    )
    replicas = overrides.get(
        "streams.num.standby.replicas", config.group_streams_num_standby_replicas
    )
    session_ms, heartbeat_ms, assignment_ms = (
        kept_within(config, overrides, name) for name in _LIMITED
    )
    return StreamsSettings(
        session_ms,
        heartbeat_ms,
        assignment_ms,
        int(delay),
        min(int(replicas), config.group_streams_max_standby_replicas),
    )
