"""The settings of one streams group: its own where it has some, else the broker's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from penstock.group.config import GroupConfig
from penstock.group.consumer.setting import within

STANDBY_REPLICAS = "num.standby.replicas"


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
    """The broker's limits may have changed since a group's setting was taken: they win."""
    return StreamsSettings(
        within(
            overrides.get("streams.session.timeout.ms"),
            config.group_streams_session_timeout_ms,
            config.group_streams_min_session_timeout_ms,
            config.group_streams_max_session_timeout_ms,
        ),
        within(
            overrides.get("streams.heartbeat.interval.ms"),
            config.group_streams_heartbeat_interval_ms,
            config.group_streams_min_heartbeat_interval_ms,
            config.group_streams_max_heartbeat_interval_ms,
        ),
        within(
            overrides.get("streams.assignment.interval.ms"),
            config.group_streams_assignment_interval_ms,
            config.group_streams_min_assignment_interval_ms,
            config.group_streams_max_assignment_interval_ms,
        ),
        int(
            overrides.get(
                "streams.initial.rebalance.delay.ms",
                config.group_streams_initial_rebalance_delay_ms,
            )
        ),
        within(
            overrides.get("streams.num.standby.replicas"),
            config.group_streams_num_standby_replicas,
            0,
            config.group_streams_max_standby_replicas,
        ),
    )
