"""The short form of `make eos`: copiers and node are killed a few times, and zombies come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tools.exactly_once.copier import LOOSE_OFFSETS, UNFENCED
from tools.exactly_once.driver import Plan, run
from tools.exactly_once.outcome import Result
from tools.exactly_once.setup import BROKER_SETTINGS
from tools.penstock_broker import Penstock

ZOMBIES = Plan(
    seed=6,
    kills=0,
    seconds=12.0,
    rate=100,
    broker_share=0.0,
    halt_share=1.0,
    # Until others have copied what they had in hand, also on a busy machine.
    halt_sessions=(3.0, 3.5),
    shortest_peace_s=3.0,
    longest_peace_s=4.0,
    work_s=0.3,
)


def copy_under_fire(tmp_path: Path, plan: Plan) -> Result:
    broker = Penstock(tmp_path / "data", BROKER_SETTINGS)
    return run("penstock", broker, tmp_path, plan)


@pytest.mark.timeout(240)
def test_every_record_is_copied_once_while_copiers_and_node_are_killed(tmp_path: Path) -> None:
    result = copy_under_fire(tmp_path, Plan(seed=7, kills=5, rate=150, longest_peace_s=1.2))
    assert result.violations == []
    assert result.copied == result.acknowledged > 0
    assert result.recovery_s, "the node was not killed"
    assert result.disturbances["copier killed"] > 0
    assert result.transactions["committed"] > 0


# The same judge must find what careless copiers do, or its silence above says nothing.


@pytest.mark.timeout(240)
def test_zombies_that_nobody_fences_are_found(tmp_path: Path) -> None:
    result = copy_under_fire(tmp_path, replace(ZOMBIES, fault=UNFENCED))
    assert any("history: duplicate" in violation for violation in result.violations)
    assert any("copied 2 times" in violation for violation in result.violations)


@pytest.mark.timeout(240)
def test_offsets_committed_beside_the_transaction_are_found(tmp_path: Path) -> None:
    plan = Plan(
        seed=8,
        kills=2,
        rate=100,
        broker_share=0.0,
        halt_share=0.0,
        shortest_peace_s=2.0,
        longest_peace_s=3.0,
        work_s=0.3,
        fault=LOOSE_OFFSETS,
    )
    result = copy_under_fire(tmp_path, plan)
    assert any("history: duplicate" in violation for violation in result.violations)
