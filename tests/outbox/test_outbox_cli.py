"""`penstock outbox` as it is typed."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from penstock.testing.broker import Broker
from penstock.testing.port import free_port
from tests.outbox.outbox_kit import begun, fill, make
from tests.outbox.test_outbox_relay import KEYS, check_once_in_order, committed, wait_empty
from tests.patience import wait_until

PENSTOCK = [sys.executable, "-m", "penstock"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PENSTOCK, *arguments], capture_output=True, text=True, timeout=120)


def test_tables_are_made_or_printed(sqlite_url: str) -> None:
    printed = run("outbox", "create", "-d", sqlite_url, "--print")
    with begun(sqlite_url) as connection:
        connection.executescript(printed.stdout)
    assert run("outbox", "create", "-d", sqlite_url, "--shards", "4").returncode == 0
    fill(sqlite_url, "orders", KEYS, 3)
    status = json.loads(run("outbox", "status", "-d", sqlite_url, "--json").stdout)
    assert (status["waiting"], status["set_aside"], status["refused"]) == (3, 0, [])


@pytest.mark.parametrize("command", ["relay", "status"])
def test_what_is_missing_is_said_in_one_line(command: str, sqlite_url: str, tmp_path: Path) -> None:
    mistyped = tmp_path / "mistyped.db"
    with begun(sqlite_url) as connection:
        connection.execute("create table other (id integer)")
    for url, said in (
        (sqlite_url, "penstock: no outbox in this database"),
        (f"sqlite:///{mistyped}", "penstock: there is no database"),
        ("mysql://x", "penstock: no such database: mysql"),
        ("postgresql://127.0.0.1:1/x", "penstock: connection failed"),
    ):
        answer = run("outbox", command, "-d", url)
        assert (answer.returncode, answer.stderr[: len(said)]) == (1, said)
        assert answer.stderr.count("\n") == 1
    assert not mistyped.exists()


def test_a_port_for_metrics_that_is_in_use(sqlite_url: str) -> None:
    make(sqlite_url)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        answer = run("outbox", "relay", "-d", sqlite_url, "--metrics-port", port)
    said = f"metrics cannot be served at 127.0.0.1:{port}: Address already in use"
    assert answer.stderr.startswith(f"penstock: {said}; choose another")
    assert answer.returncode == 1


def test_a_relay_sends_what_there_is_and_ends(penstock: Broker, url: str) -> None:
    make(url)
    fill(url, "orders", KEYS, 30)
    answer = run("-b", penstock.bootstrap_servers, "outbox", "relay", "-d", url, "--once")
    # Before that it may have told of its progress, where it took longer than a second.
    assert (answer.returncode, answer.stderr.splitlines()[-1]) == (0, "sent 30 events")
    check_once_in_order(committed(penstock, "orders"), 30)


def test_a_relay_has_metrics_and_ends_on_sigterm(penstock: Broker, sqlite_url: str) -> None:
    make(sqlite_url)
    port = free_port()
    command = [*PENSTOCK, "-b", penstock.bootstrap_servers, "outbox", "relay", "-d", sqlite_url]
    with subprocess.Popen([*command, "--metrics-port", str(port)]) as process:
        fill(sqlite_url, "orders", KEYS, 20)
        wait_empty(sqlite_url)
        wait_until(lambda: "penstock_outbox_sent_total 20.0" in scraped(port), "no metrics")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    check_once_in_order(committed(penstock, "orders"), 20)


def scraped(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            text: str = answer.read().decode()
            return text
    except OSError:
        return ""
