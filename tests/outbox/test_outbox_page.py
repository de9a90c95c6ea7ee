"""docs/outbox.md: its examples run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.client import close, consume, inbox
from penstock.client.outbox import Relay
from penstock.testing.broker import Broker
from tests.outbox.outbox_kit import rows
from tests.outbox.test_outbox_relay import wait_empty
from tests.patience import wait_until

PAGE = (Path(__file__).parents[2] / "docs" / "outbox.md").read_text()
URL = "sqlite:///orders.db"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_example_runs(
    penstock: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for example in EXAMPLES:
        exec(example, names)
    with Relay(URL, penstock.bootstrap_servers):
        wait_empty(URL)
        patient = {"bootstrap_servers": penstock.bootstrap_servers, "timeout_s": 60.0}
        [placed] = consume("billing", "orders.placed", **patient)
        assert placed.value == {"order": "o-1", "total": 95}
        for _ in range(2):
            names["order_charge"](names["connection"], placed)
            names["charge"](names["connection"], placed)
        with names["worker"]:
            wait_until(lambda: rows(URL, "select state from penstock_call") == [("done",)], "call")
        # A topic that is not there yet cannot be read.
        wait_empty(URL)
        [paid] = consume("look", "orders.paid", **patient)
    close()
    key = inbox.idempotency_key(placed, "charge")
    assert paid.value == {"receipt": f"charged 95 for {key}"}
    assert rows(URL, "select total from orders") == [(95,)]
    names["connection"].close()
