"""What docs/applications.md and the README show of applications is true: it runs."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.main import main
from penstock.client import App, RequestTimeoutError
from penstock.testing.port import free_port
from tests.patience import wait_until
from tests.unit.client.app.app_kit import Target, blocks


def test_the_test_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told: dict[str, Any] = {"__name__": "page"}
    module = type(sys)("page")
    module.__dict__.update(told)
    sys.modules["page"] = module
    try:
        for code in blocks("docs/applications.md", "python"):
            exec(code, module.__dict__)
        module.__dict__["test_the_bank_is_away"]()
        prices, shop = module.__dict__["prices"], module.__dict__["shop"]
        with prices.test() as test:
            shop.bootstrap_servers = test.broker.bootstrap_servers
            assert asyncio.run(_asked(shop, module.__dict__["total"])) == 28.5
    finally:
        del sys.modules["page"]


async def _asked(shop: App, total: Any) -> float:
    try:
        for _ in range(20):
            # The two seconds of the page are little for a first request on a busy machine.
            with suppress(RequestTimeoutError):
                return float(await total("tea", 3))
        raise AssertionError("never answered")
    finally:
        await shop.close()


def test_the_first_ten_minutes(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """The page's own file and commands: run, charged, a dead letter, SIGTERM."""
    (tmp_path / "billing.py").write_text(blocks("docs/applications.md", "python")[0])
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", target.bootstrap_servers)
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    main(["topics", "create", "orders", "--partitions", "3", "--if-not-exists"])
    metrics = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-um", "penstock", "app", "run", "billing.py:app"]
    with open(tmp_path / "out", "w") as out:
        process = subprocess.Popen(
            [*command, "--metrics", metrics], cwd=tmp_path, stdout=out, stderr=out
        )
    try:
        for value in ('{"id": 1, "total": 9.5}', '{"id": 2, "total": -1}'):
            target.produce("orders", [value])
        text = tmp_path / "out"
        wait_until(lambda: "charged 9.5 for order 1" in text.read_text(), "an order is charged")
        wait_until(lambda: "to the dead letters" in text.read_text(), "an order is refused")

        def counted() -> bool:
            page = urllib.request.urlopen(f"http://{metrics}/metrics", timeout=30).read().decode()
            return 'penstock_app_dead_letters_total{app="billing",group="billing"' in page

        wait_until(counted, "the letter is counted")
        shop_sells(tmp_path)
        wait_until(lambda: "charged 12.5 for order 1" in text.read_text(), "the shop's order")
        health = urllib.request.urlopen(f"http://{metrics}/healthz", timeout=30)
        assert health.status == 200
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(60)
    assert code == 0, (tmp_path / "out").read_text()
    capsys.readouterr()
    assert main(["dlq", "show", "billing.dead-letters"]) == 0
    assert "ValueError: a negative total" in capsys.readouterr().out


def shop_sells(folder: Path) -> None:
    """The page's outbox: an order and its event in one transaction, and the relay."""
    (folder / "shop.py").write_text(blocks("docs/applications.md", "python")[1])
    relay = ["-m", "penstock", "outbox", "relay", "--database", "sqlite:///shop.db", "--once"]
    for arguments in (["shop.py"], relay):
        ended = subprocess.run(
            [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=120
        )
        assert ended.returncode == 0, ended.stderr


def test_the_readme() -> None:
    (code,) = [each for each in blocks("README.md", "python") if "@app.consumer" in each]
    told: dict[str, Any] = {}
    exec(code, told)
    app = told["app"]
    assert isinstance(app, App)
    with app.test() as test:
        test.send("orders", {"total": 9.5})
        test.settle()
        assert test.read("billing.dead-letters") == []


def test_an_application_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name, text in (
        ("nothing_declared", "x = 1\n"),
        ("half_written", "x = 1\ndef\n"),
        ("fails_at_once", "x = {}\n\ny = x['y']\n"),
        ("misdeclared", "from penstock.client import App\n@App('x').consumer('t')\ndef f(): ...\n"),
        ("queue", "from penstock.client import App\napp = App('x')\n"),
    ):
        (tmp_path / f"{name}.py").write_text(text)
    for name, said in (
        (f"{tmp_path}/half_written.py:app", f"invalid syntax ({tmp_path}/half_written.py, line 2)"),
        (
            f"{tmp_path}/fails_at_once.py:app",
            f"'y' ({tmp_path}/fails_at_once.py, line 3)",
        ),
        (f"{tmp_path}/misdeclared.py:app", "f takes a value and, if it wants, a Message"),
        (f"{tmp_path}/queue.py:app", "has the name of another module, queue"),
        (f"{tmp_path}/nothing_declared.py", "it declares none"),
        (f"{tmp_path}/missing.py:app", "there is no file"),
        ("no_such_module_here:app", "there is no module"),
    ):
        assert main(["app", "run", name]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") == 1


def test_without_a_broker_it_says_where_and_ends_when_told(tmp_path: Path) -> None:
    (tmp_path / "lonely.py").write_text(
        "from penstock.client import App\n"
        "app = App('lonely', '127.0.0.1:1')\n"
        "@app.consumer('orders')\n"
        "def handle(value): ...\n"
        "print('loaded', flush=True)\n"
    )
    command = [sys.executable, "-m", "penstock", "app", "run", f"{tmp_path}/lonely.py"]
    alone, told = (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    assert told.stdout is not None
    told.stdout.readline()
    time.sleep(1.0)  # Until it waits for the broker; before that Ctrl-C is code 130.
    told.send_signal(signal.SIGINT)
    assert (told.communicate(timeout=60), told.returncode) in ((("", ""), 0), (("", ""), 130))
    _, said = alone.communicate(timeout=60)
    assert (alone.returncode, said.count("\n")) == (1, 1)
    assert said.startswith("penstock: no broker answers at 127.0.0.1:1")
