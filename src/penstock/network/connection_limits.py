"""How many connections there may be, and how fast new ones may come.

Kafka's rules. Where a listener or all of them together are full, or connections come too fast,
those who want to connect wait in the system's queue. One address that has too many, or comes too
often, is sent away alone. The listener of brokers may always be reached: for it, others lose the
connection that was used least lately. Owns the counts; sockets are the listeners'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Final, NamedTuple

from penstock.security.quota.sample import Windows
from penstock.security.quota.sensor import UNLIMITED, RateSensor, Tags
from penstock.telemetry.log import get_logger

log = get_logger("network")

ADDRESSES_MAX: Final = 1024
"""Whose rates are kept, before those that have not come for a while are dropped."""

_NO_TAGS: Final = Tags("", "")


class ConnectionBounds(NamedTuple):
    """As the settings say it."""

    total_max: float = UNLIMITED
    rate_max: float = UNLIMITED
    address_max: float = UNLIMITED
    address_overrides: Mapping[str, int] = {}
    listener_max: Mapping[str, float] = {}
    listener_rate_max: Mapping[str, float] = {}

    def of_address(self, address: str) -> float:
        return self.address_overrides.get(address, self.address_max)


class Refused(Exception):
    """An address that has too many connections; `wait_s` is for how long it is kept waiting before
    it is told so."""

    def __init__(self, wait_s: float = 0.0) -> None:
        self.wait_s = wait_s


class ConnectionLimits:
    """Of listeners that count together."""

    def __init__(self, windows: Windows, now_s: Callable[[], float]) -> None:
        self._windows = windows
        self._now_s = now_s
        self.bounds = ConnectionBounds()
        self.count = 0
        self.refused_count = 0
        self.rate = self._sensor(UNLIMITED)
        self._address_rates: Mapping[str | None, float] = {}
        self._counts: Counter[str] = Counter()
        self._rates: dict[str, RateSensor] = {}
        self._mentioned: set[str] = set()
        self._listeners: list[ListenerLimits] = []

    def of_listener(self, name: str, *, is_of_brokers: bool = False) -> ListenerLimits:
        listener = ListenerLimits(self, name, self._sensor(UNLIMITED), is_of_brokers)
        self._listeners.append(listener)
        return listener

    def change(self, bounds: ConnectionBounds) -> None:
        self.bounds = bounds
        self.rate.limit = bounds.rate_max
        for listener in self._listeners:
            listener.count_max = bounds.listener_max.get(listener.name, bounds.total_max)
            listener.rate.limit = bounds.listener_rate_max.get(listener.name, bounds.rate_max)
        self.shed()
        self.tell_room()

    def change_rates(self, by_address: Mapping[str | None, float]) -> None:
        """Of single addresses; None for all others, each for itself."""
        self._address_rates = by_address
        for address, sensor in self._rates.items():
            sensor.limit = self._rate_of(address)

    @property
    def has_several_listeners(self) -> bool:
        return len(self._listeners) > 1

    def now_ms(self) -> float:
        return self._now_s() * 1000

    def tell_room(self) -> None:
        for listener in self._listeners:
            if listener.on_room is not None and listener.has_room:
                listener.on_room()

    def shed(self) -> None:
        """Closes what is over the limit, what was used least lately first."""
        while self.count > self.bounds.total_max:
            victims = [
                found
                for listener in self._listeners
                if not listener.is_protected and (found := listener.oldest()) is not None
            ]
            if not victims:
                return
            min(victims, key=itemgetter(0))[1]()

    # Addresses

    def enter(self, address: str) -> None:
        """Refused where the address may not have another one now."""
        self._check_rate(address)
        if self._counts[address] >= self.bounds.of_address(address):
            self._refuse(address, f"has {self._counts[address]} connections already")
            raise Refused
        self._counts[address] += 1
        self.count += 1

    def leave(self, address: str) -> None:
        self.count -= 1
        self._counts[address] -= 1
        if self._counts[address] <= 0:
            del self._counts[address]
            self._mentioned.discard(address)

    def _check_rate(self, address: str) -> None:
        if not self._address_rates or self._rate_of(address) == UNLIMITED:
            return
        now_ms = self.now_ms()
        sensor = self._rates.get(address) or self._new_rate(address, now_ms)
        wait_ms = sensor.record(1, now_ms)
        if wait_ms:
            sensor.add(-1, now_ms)
            self._refuse(address, "connects too often")
            raise Refused(wait_ms / 1000)

    def _rate_of(self, address: str) -> float:
        rates = self._address_rates
        return rates.get(address, rates.get(None, UNLIMITED))

    def _new_rate(self, address: str, now_ms: float) -> RateSensor:
        if len(self._rates) >= ADDRESSES_MAX:
            oldest_ms = now_ms - self._windows.span_ms
            self._rates = {
                name: one for name, one in self._rates.items() if one.used_ms > oldest_ms
            }
        sensor = self._rates[address] = self._sensor(self._rate_of(address))
        return sensor

    def _refuse(self, address: str, reason: str) -> None:
        """Said once, until the address has no connection any more."""
        self.refused_count += 1
        if address not in self._mentioned and len(self._mentioned) < ADDRESSES_MAX:
            self._mentioned.add(address)
            log.warning("connections refused", address=address, reason=reason)

    def _sensor(self, limit: float) -> RateSensor:
        windows = self._windows
        return RateSensor(_NO_TAGS, limit, windows, windows.size_ms)


Oldest = tuple[float, Callable[[], None]]
"""When a connection was last used, and how to close it."""


class ListenerLimits:
    """What one listener has to ask."""

    def __init__(
        self, limits: ConnectionLimits, name: str, rate: RateSensor, is_of_brokers: bool
    ) -> None:
        self.name = name
        self.rate = rate
        self.count = 0
        self.count_max = UNLIMITED
        self.oldest: Callable[[], Oldest | None] = lambda: None
        self.on_room: Callable[[], None] | None = None
        """Set while somebody waits for room."""
        self._limits = limits
        self._is_of_brokers = is_of_brokers

    @property
    def is_protected(self) -> bool:
        return self._is_of_brokers and self._limits.has_several_listeners

    @property
    def has_room(self) -> bool:
        """For one more, whoever it is."""
        limits = self._limits
        if self.count >= self.count_max:
            return False
        return self.is_protected or limits.count < limits.bounds.total_max

    def delay_s(self) -> float:
        """One more is here: how long it has to wait so that they do not come too fast."""
        limits = self._limits
        now_ms, wait_ms = limits.now_ms(), 0
        if self.rate.limit != UNLIMITED:
            wait_ms = self.rate.record(1, now_ms)
        if limits.rate.limit != UNLIMITED and not self.is_protected:
            wait_ms = max(wait_ms, limits.rate.record(1, now_ms))
        return wait_ms / 1000

    def enter(self, address: str) -> None:
        self._limits.enter(address)
        self.count += 1
        if self.is_protected:
            self._limits.shed()

    def leave(self, address: str) -> None:
        self.count -= 1
        self._limits.leave(address)
        self._limits.tell_room()
