"""The listeners of a node: bound together, opened when what they lead to is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from socket import gethostname
from typing import TYPE_CHECKING, NamedTuple

from penstock.handlers.call import ClientState
from penstock.metadata.broker import Endpoint
from penstock.metadata.security import QuotaEntity
from penstock.model.security_protocol import SecurityProtocol
from penstock.network.connection import Serve
from penstock.network.connection_limits import ConnectionLimits, ListenerLimits
from penstock.network.listener import Limits, Listener
from penstock.network.sockets import Sockets
from penstock.node.address import EVERY_INTERFACE, Address
from penstock.node.connection_bounds import HostAddresses, address_rates, connection_bounds
from penstock.node.listener_config import ListenerEndpoint, ListenerRoles
from penstock.node.listener_security import ListenerSecurity
from penstock.security.quota.sample import Windows
from penstock.settings.config import BrokerConfig
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import Gauge

if TYPE_CHECKING:
    from penstock.node.logins import Logins

log = get_logger("network")


class BoundListener(NamedTuple):
    name: str
    protocol: SecurityProtocol
    listener: Listener
    address: Address
    told: Address
    """Where others reach it."""

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.name, self.told.host, self.told.port, self.protocol)


class Listeners:
    """`end_state` hears of every connection that has ended; `new_logins` is called where a listener
    asks for a login. Listeners of controllers count their connections apart, so that clients cannot
    keep nodes from each other."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        limits: Limits,
        roles: ListenerRoles,
        quota_windows: Windows,
        sockets: Sockets,
        now_s: Callable[[], float],
        end_state: Callable[[ClientState], None],
        new_logins: Callable[[], Logins],
        security: ListenerSecurity,
    ) -> None:
        self._loop = loop
        self._limits = limits
        self._roles = roles
        self._client_limits = ConnectionLimits(quota_windows, now_s)
        self._controller_limits = ConnectionLimits(quota_windows, now_s)
        self._sockets = sockets
        self._now_s = now_s
        self._end_state = end_state
        self._new_logins = new_logins
        self._security = security
        self._bound: list[BoundListener] = []
        self._address_of = HostAddresses(loop, self._know_hosts)
        self._config: BrokerConfig | None = None
        self._quotas: Mapping[tuple[QuotaEntity, str], float] = {}

    def __iter__(self) -> Iterator[BoundListener]:
        return iter(self._bound)

    def bind(self, listeners: Iterable[ListenerEndpoint], told: Iterable[ListenerEndpoint]) -> None:
        """Takes every address, so that a second process fails at once. Nobody is let in yet."""
        by_name = {each.name: each for each in told}
        for wanted in listeners:
            self._bind(wanted, by_name.get(wanted.name, wanted))
        self._security.watch(self._loop)

    def _bind(self, wanted: ListenerEndpoint, told: ListenerEndpoint) -> None:
        name, protocol = wanted.name, wanted.protocol
        listener = Listener(
            self._loop,
            self._limits,
            lambda address: ClientState(address, name, protocol),
            self._end_state,
            self._limits_of(name),
            self._sockets,
            self._now_s,
            self._security.server(name, protocol),
        )
        address = Address(*listener.bind(*wanted.bind_address))
        self._bound.append(
            BoundListener(
                name, protocol, listener, address, told.told_address(gethostname(), address.port)
            )
        )
        if told.host in ("", *EVERY_INTERFACE):
            log.info(
                "listening on every interface; others are told this host's name, "
                "--advertise or advertised.listeners tells them another",
                listener=name,
                advertised=gethostname(),
            )

    def _limits_of(self, name: str) -> ListenerLimits:
        roles = self._roles
        limits = self._controller_limits if name in roles.of_controllers else self._client_limits
        return limits.of_listener(name, is_of_brokers=name == roles.of_brokers)

    def change_bounds(self, config: BrokerConfig) -> None:
        """To what the settings say now."""
        self._config = config
        names = (each.name for each in self._bound)
        bounds = connection_bounds(config, names, self._address_of)
        self._client_limits.change(bounds)
        self._controller_limits.change(bounds)

    def change_address_rates(self, quotas: Mapping[tuple[QuotaEntity, str], float]) -> None:
        self._quotas = quotas
        rates = address_rates(quotas, self._address_of)
        self._client_limits.change_rates(rates)
        self._controller_limits.change_rates(rates)

    def _know_hosts(self) -> None:
        """A name in the settings or quotas has an address now."""
        if self._config is not None:
            self.change_bounds(self._config)
        self.change_address_rates(self._quotas)

    def gauges(self) -> list[Gauge]:
        both = (self._client_limits, self._controller_limits)
        return [
            (
                "penstock_connections_refused",
                "Of addresses that have too many, or connect too often, since start",
                lambda: sum(each.refused_count for each in both),
            )
        ]

    @property
    def of_clients(self) -> list[BoundListener]:
        """Of a controller that is no broker: its own."""
        found = [each for each in self._bound if each.name not in self._roles.of_controllers]
        return found or list(self._bound)

    def of(self, names: Iterable[str]) -> list[BoundListener]:
        wanted = set(names)
        return [each for each in self._bound if each.name in wanted]

    def start(self, names: Iterable[str], serve: Serve) -> None:
        for each in self.of(names):
            each.listener.start(self._guarded(each, serve))

    def start_clients(self, serve: Serve) -> None:
        self.start((each.name for each in self.of_clients), serve)

    def _guarded(self, bound: BoundListener, serve: Serve) -> Serve:
        if not bound.protocol.has_login:
            return serve
        return self._new_logins().guard(bound.listener, bound.name, bound.protocol, serve)

    async def drain(self, timeout_s: float) -> None:
        self._security.close()
        for each in self._bound:
            each.listener.stop_accepting()
        await asyncio.gather(*(each.listener.drain(timeout_s) for each in self._bound))
