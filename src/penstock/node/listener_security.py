"""How the listeners of a node are secured, and the calls to those of other nodes.

A node without encrypted listeners loads nothing of TLS.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from penstock.model.security_protocol import SecurityProtocol
from penstock.node.listener_config import listeners_of, protocol_of
from penstock.peer.dialer import Dialer
from penstock.settings.config import BrokerConfig
from penstock.telemetry.metric import LabelledGauge

if TYPE_CHECKING:
    from penstock.network.tls.server import ServerTls
    from penstock.node.metrics_server import MetricsServer
    from penstock.node.tls.listener_tls import ListenerTls

METRICS = "METRICS"
"""What the settings call the endpoint of metrics: `listener.name.metrics.ssl.keystore.location`."""
LOOK_S = 1.0
"""How often files are looked at."""


class ListenerSecurity:
    def __init__(self, config: Callable[[], BrokerConfig]) -> None:
        self._config = config
        self._by_listener: dict[str, ListenerTls] = {}
        self._timer: asyncio.TimerHandle | None = None

    def server(self, listener: str, protocol: SecurityProtocol) -> ServerTls | None:
        """SettingError where there is no key to encrypt with."""
        return self._tls(listener, protocol).as_server() if protocol.is_encrypted else None

    def dialer(self, listener: str, dialer: Dialer) -> Dialer:
        """For the listener of this name on other nodes."""
        protocol = protocol_of(self._config(), listener)
        if not protocol.is_encrypted:
            return dialer
        from penstock.peer.tls_dialer import TlsDialer

        return TlsDialer(dialer, self._tls(listener, protocol).client)

    def _tls(self, listener: str, protocol: SecurityProtocol) -> ListenerTls:
        from penstock.node.tls.listener_tls import ListenerTls

        found = self._by_listener.get(listener)
        if found is None:
            found = self._by_listener[listener] = ListenerTls(listener, protocol, self._config)
        return found

    def protected(self, render: Callable[[], Awaitable[bytes]]) -> MetricsServer:
        """The endpoint of metrics, as the settings protect it."""
        from penstock.node.metrics_server import MetricsServer

        context = None
        if self._config().get("penstock.metrics.tls.enable"):
            context = self._tls(METRICS, SecurityProtocol.SSL).as_server().context
        return MetricsServer(
            render, lambda: self._config().get("penstock.metrics.token") or None, context
        )

    # Changes

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._by_listener:
            self._timer = loop.call_later(LOOK_S, self._look, loop)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def look(self) -> None:
        for each in self._by_listener.values():
            each.look()

    def check(self, config: BrokerConfig) -> None:
        """SettingError where these settings could not be used."""
        for each in self._by_listener.values():
            each.check(config)
        from penstock.node.sasl_config import sasl_config  # only a change needs it

        for listener in listeners_of(config):
            if listener.protocol.has_login:
                sasl_config(config, listener.name, listener.protocol)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self.look()
        self.watch(loop)

    # Metrics

    def gauges(self) -> list[LabelledGauge]:
        return [
            (
                "penstock_tls_certificate_days_left",
                "Until the certificate of a listener expires",
                ("listener",),
                self._days_left,
            ),
            (
                "penstock_tls_certificates_refused",
                "Changed certificates that could not be used, since start",
                ("listener",),
                self._refused,
            ),
        ]

    def _days_left(self) -> Iterator[tuple[tuple[str, ...], float]]:
        now_s = time.time()
        for each in self._by_listener.values():
            days = each.days_left(now_s)
            if days is not None:
                yield (each.listener,), days

    def _refused(self) -> Iterator[tuple[tuple[str, ...], float]]:
        for each in self._by_listener.values():
            yield (each.listener,), each.refused_count
