"""The short form of `make fraud-kill`: detector, broker and both are killed while payments flow."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.pipelines.jobs.fraud.accuracy import Accuracy, Truth
from tools.fraud.driver import BROKER_SETTINGS, Plan, run
from tools.fraud.outcome import ACCURACY_HEADING, HEADING, Result, render, render_accuracy
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


def test_a_run_is_told_as_it_was() -> None:
    result = Result(seed=1, rate=500.0, sent=10)
    result.disturbances["broker killed"] = 2
    result.report.payments = 9
    result.report.violate("payments without a verdict", "payments-0 @ 3")
    assert not result.holds
    assert result.kills == 2
    told = render(result)
    assert told.startswith(HEADING)
    assert "kill -9: 2 (broker killed 2)" in told
    assert "1 payments without a verdict, such as payments-0 @ 3" in told
    assert "1 payments are not in the topic" in told
    accuracy = Accuracy({"a": Truth("travel", 1)})
    accuracy.add("a", flagged=True)
    accuracy.add("b", flagged=True, reasons=["amount"])
    told = render_accuracy(accuracy, 1)
    assert told.startswith(ACCURACY_HEADING)
    assert "| travel | 1 | 1 | 100.0% | 1 | 1 |" in told
    assert "(by rule: amount 1)" in told
