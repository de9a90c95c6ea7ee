"""The quotas of clients as a node's settings measure them."""

from __future__ import annotations

from penstock.handlers.throttle import Throttle
from penstock.model.clock import Clock
from penstock.security.quota.client import ClientQuotas
from penstock.security.quota.sample import Windows
from penstock.settings.config import BrokerConfig


def new_throttle(config: BrokerConfig, clock: Clock) -> Throttle:
    mutations = Windows(
        int(config.get("controller.quota.window.num")),
        int(config.get("controller.quota.window.size.seconds")) * 1000.0,
    )
    return Throttle(ClientQuotas(quota_windows(config), mutations), clock)


def quota_windows(config: BrokerConfig) -> Windows:
    return Windows(
        int(config.get("quota.window.num")),
        int(config.get("quota.window.size.seconds")) * 1000.0,
    )
