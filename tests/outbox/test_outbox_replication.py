"""A relay that PostgreSQL's logical replication tells of events, on a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.client.database import DatabaseUseError
from penstock.client.outbox import lookout
from penstock.client.outbox.relay import Relay
from penstock.client.outbox.replication import Replication
from penstock.testing.broker import Broker
from tests.outbox.outbox_kit import fill, make, rows
from tests.outbox.test_outbox_relay import KEYS, check_once_in_order, committed, relay_and_kill
from tests.patience import wait_until
from tests.postgres_kit import running_postgres
from tools.postgres import Postgres


@pytest.fixture
def logical() -> Iterator[Postgres]:
    yield from running_postgres(logical=True)


def slots(url: str) -> int:
    return int(rows(url, "select count(*) from pg_replication_slots")[0][0])


def test_events_are_sent_when_they_are_told_of(
    penstock: Broker, logical: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By being told alone: nobody looks by himself here."""
    monkeypatch.setattr(lookout, "_LONG_S", 3600.0)
    penstock.create_topic("orders", partitions=3)
    make(logical.url, shards=2)
    fill(logical.url, "orders", KEYS, 50)
    relay = Relay(logical.url, penstock.bootstrap_servers, poll_s=3600, replication=True)
    with relay:
        wait_until(lambda: relay.progress().sent == 50, "what was there before")
        for start in range(50, 250, 50):
            fill(logical.url, "orders", KEYS, 50, start)
            wait_until(lambda end=start + 50: relay.progress().sent == end, "told of")  # type: ignore[misc]
        assert slots(logical.url) == 1
        # What is confirmed moves on: the slot keeps no log.
        held = "select pg_current_wal_lsn() - confirmed_flush_lsn from pg_replication_slots"
        wait_until(lambda: int(rows(logical.url, held)[0][0]) < 2_000, "the log is let go")
    assert slots(logical.url) == 0
    check_once_in_order(committed(penstock, "orders"), 250)


def test_a_relay_that_is_told_and_killed_loses_and_doubles_nothing(
    penstock: Broker, logical: Postgres
) -> None:
    """The slot of one that was killed goes with its connection."""
    penstock.create_topic("orders", partitions=3)
    make(logical.url)
    relay_and_kill(penstock, logical.url, replication=True)
    wait_until(lambda: slots(logical.url) == 0, "no slot is left behind")


def test_a_server_that_restarts_is_followed_again(penstock: Broker, logical: Postgres) -> None:
    penstock.create_topic("orders", partitions=3)
    make(logical.url)
    with Relay(logical.url, penstock.bootstrap_servers, replication=True) as relay:
        fill(logical.url, "orders", KEYS, 50)
        wait_until(lambda: relay.progress().sent == 50, "the first")
        logical.halt()
        logical.resume()
        fill(logical.url, "orders", KEYS, 50, 50)
        wait_until(lambda: relay.progress().sent == 100, "the rest")
        wait_until(lambda: slots(logical.url) == 1, "it is told again")
    check_once_in_order(committed(penstock, "orders"), 100)


def test_a_server_that_does_not_do_it_is_said(postgres_url: str) -> None:
    make(postgres_url)
    with pytest.raises(DatabaseUseError, match="wal_level of this server is replica"):
        Replication(postgres_url).start()
    with pytest.raises(DatabaseUseError, match="only PostgreSQL"):
        Relay("sqlite:///x.db", replication=True)
