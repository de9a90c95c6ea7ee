"""The short form of `make fraud-kill`: detector, broker and both are killed while payments flow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.fraud.driver import BROKER_SETTINGS, Plan, run
from tools.penstock_broker import Penstock


@pytest.mark.java
@pytest.mark.timeout(600)
def test_every_payment_has_one_verdict_whatever_is_killed(tmp_path: Path) -> None:
    plan = Plan(
        seed=3,
        kills=3,
        rate=300,
        accounts=500,
        shortest_peace_s=1.0,
        longest_peace_s=4.0,
        victims=("broker killed", "workers killed", "broker and detector killed"),
    )
    result = run(Penstock(tmp_path / "data", BROKER_SETTINGS), tmp_path, plan)
    assert result.violations() == []
    assert result.holds
    assert result.kills == 3
    assert result.report.verdicts + result.report.undecodable == result.report.payments
