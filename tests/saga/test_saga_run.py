"""The saga as processes on a real broker: killed in the middle, and all books agree at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from penstock.client.database import open_database
from penstock.saga.books import read_counts
from penstock.saga.customer import Customers, stock_for
from penstock.saga.stage import Stage
from penstock.testing.broker import Broker
from tools.saga_kill import run as run_and_kill

LONG = pytest.mark.skipif(not os.environ.get("SAGA"), reason="minutes; SAGA=long runs it")


def test_what_was_down_catches_up(penstock: Broker, tmp_path: Path) -> None:
    """The order service takes orders while all the others are down, killed ones come back."""
    stage = Stage(tmp_path / "saga", {"bootstrap.servers": penstock.bootstrap_servers})
    stage.prepare(stock_for(120))
    customers = Customers(seed=1)
    try:
        stage.start("orders")
        shown = Path(f"/proc/{stage.pid('orders')}/cmdline").read_text()
        assert penstock.bootstrap_servers not in shown, "settings may be secrets"
        assert stage.urls["orders"] not in shown, "it may hold a password"
        with closing(open_database(stage.urls["orders"])) as orders:
            customers.act(orders, 60)
            stage.start("inventory", "payment", "fulfilment", "notification")
            customers.act(orders, 60)
        stage.kill("inventory")
        stage.start("inventory")
        assert stage.settle() == []
    finally:
        stage.stop()
    counts = read_counts(stage.urls)
    assert counts["orders"].total() == counts["notification"].total() == 120
    command = [sys.executable, "-m", "penstock", "-b", penstock.bootstrap_servers, "saga", "check"]
    answer = subprocess.run(
        [*command, "--dir", str(tmp_path / "saga")], capture_output=True, text=True, timeout=120
    )
    assert (answer.returncode, answer.stdout.splitlines()[-1]) == (
        0,
        "every order has come to an end, and all books agree",
    )


@LONG
@pytest.mark.timeout(600)
@pytest.mark.parametrize("postgres", [False, True])
def test_nothing_is_wrong_after_kills(postgres: bool) -> None:
    assert run_and_kill(60, 30, 7, (), postgres=postgres) == []


@LONG
@pytest.mark.timeout(600)
@pytest.mark.parametrize("fault", ["no-outbox", "no-idempotence", "no-compensation"])
def test_planted_faults_are_found_after_kills(fault: str) -> None:
    assert run_and_kill(40, 30, 7, (fault,), postgres=False) != []  # type: ignore[arg-type]


def test_a_demo_without_a_broker_or_without_patience_ends(penstock: Broker, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "penstock", "saga"]
    folder = ["--dir", str(tmp_path / "saga")]
    nowhere = ["-b", "127.0.0.1:1"]
    answer = subprocess.run(
        [*command, "demo", *folder, *nowhere], capture_output=True, text=True, timeout=120
    )
    assert (answer.returncode, answer.stderr.count("\n")) == (1, 1)
    assert answer.stderr.startswith("penstock: no broker answers at 127.0.0.1:1")
    here = ["-b", penstock.bootstrap_servers]
    demo = subprocess.Popen(
        [*command, "demo", *folder, *here, "-n", "100000"], stderr=subprocess.PIPE, text=True
    )
    assert demo.stderr is not None
    assert demo.stderr.readline().startswith("orders: ")
    demo.send_signal(signal.SIGINT)
    _, said = demo.communicate(timeout=120)
    assert (demo.returncode, "Traceback" in said) == (130, False)
