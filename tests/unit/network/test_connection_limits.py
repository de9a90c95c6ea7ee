"""Who may connect, in time that the test moves; no sockets."""

from __future__ import annotations

import pytest

from penstock.network.connection_limits import (
    ADDRESSES_MAX,
    ConnectionBounds,
    ConnectionLimits,
    ListenerLimits,
    Oldest,
    Refused,
)
from penstock.network.listener import address_of
from penstock.security.quota.sample import Windows
from penstock.testing.clock import SimulatedClock

HOME, AWAY = "10.0.0.1", "10.0.0.2"


class Desk:
    """Two listeners, one of them of brokers."""

    def __init__(self, bounds: ConnectionBounds) -> None:
        self.clock = SimulatedClock()
        self.limits = ConnectionLimits(Windows(), self.clock.monotonic)
        self.clients = self.limits.of_listener("CLIENTS")
        self.brokers = self.limits.of_listener("BROKERS", is_of_brokers=True)
        self.limits.change(bounds)
        self.open: list[tuple[ListenerLimits, str]] = []
        self.clients.oldest = self._oldest

    def connect(self, listener: ListenerLimits, address: str = HOME) -> None:
        listener.enter(address)
        self.open.append((listener, address))

    def _oldest(self) -> Oldest | None:
        mine = [each for each in self.open if each[0] is self.clients]
        return (0.0, lambda: self.close(mine[0])) if mine else None

    def close(self, one: tuple[ListenerLimits, str]) -> None:
        self.open.remove(one)
        one[0].leave(one[1])

    def count(self, listener: ListenerLimits) -> int:
        return sum(each[0] is listener for each in self.open)


def test_one_address_cannot_take_all() -> None:
    desk = Desk(ConnectionBounds(address_max=2, address_overrides={AWAY: 3}))
    for address, most in ((HOME, 2), (AWAY, 3)):
        for _ in range(most):
            desk.connect(desk.clients, address)
        with pytest.raises(Refused) as refused:
            desk.connect(desk.clients, address)
        assert refused.value.wait_s == 0
    desk.close((desk.clients, HOME))
    desk.connect(desk.brokers, HOME)
    assert desk.limits.refused_count == 2


def test_a_full_listener_lets_nobody_in_until_one_leaves() -> None:
    desk = Desk(ConnectionBounds(listener_max={"CLIENTS": 1}))
    desk.connect(desk.clients)
    assert not desk.clients.has_room and desk.brokers.has_room
    told: list[bool] = []
    desk.clients.on_room = lambda: told.append(desk.clients.has_room)
    desk.close((desk.clients, HOME))
    assert told == [True]


def test_brokers_get_in_where_clients_wait_and_a_client_leaves_for_them() -> None:
    desk = Desk(ConnectionBounds(total_max=2))
    desk.limits.change(ConnectionBounds(total_max=2, listener_max={"BROKERS": 10}))
    desk.connect(desk.clients)
    desk.connect(desk.clients)
    assert not desk.clients.has_room and desk.brokers.has_room
    desk.connect(desk.brokers)
    assert (desk.count(desk.clients), desk.count(desk.brokers)) == (1, 1)


def test_a_lower_limit_closes_what_is_over_it() -> None:
    desk = Desk(ConnectionBounds())
    for _ in range(5):
        desk.connect(desk.clients)
    desk.limits.change(ConnectionBounds(total_max=2))
    assert desk.count(desk.clients) == 2


@pytest.mark.parametrize(
    "bounds", [ConnectionBounds(rate_max=5), ConnectionBounds(listener_rate_max={"CLIENTS": 5})]
)
def test_connections_that_come_too_fast_wait(bounds: ConnectionBounds) -> None:
    desk = Desk(bounds)
    taken = 0
    while desk.clock.monotonic() < 60:
        taken += 1
        desk.clock.advance(0.01 + desk.clients.delay_s())
    assert taken / 60 == pytest.approx(5, rel=0.3)


def test_an_address_that_comes_too_often_is_kept_waiting_and_sent_away() -> None:
    desk = Desk(ConnectionBounds())
    desk.limits.change_rates({AWAY: 1.0, None: 100.0})
    waits = []
    for _ in range(15):
        desk.connect(desk.clients, HOME)
        try:
            desk.connect(desk.clients, AWAY)
        except Refused as refused:
            waits.append(refused.wait_s)
    assert len(waits) == 5 and 0 < max(waits) <= 1
    desk.limits.change_rates({})
    desk.connect(desk.clients, AWAY)


def test_addresses_that_do_not_come_back_are_forgotten() -> None:
    desk = Desk(ConnectionBounds())
    desk.limits.change_rates({None: 1.0})
    for number in range(3 * ADDRESSES_MAX):
        desk.clients.enter(f"10.1.{number // 256}.{number % 256}")
        desk.clock.advance(0.1)
    assert len(desk.limits._rates) <= ADDRESSES_MAX


def test_addresses() -> None:
    assert address_of("127.0.0.1:80") == "127.0.0.1"
    assert address_of("::ffff:127.0.0.1:80") == "127.0.0.1"
    assert address_of("::1:80") == "::1"
