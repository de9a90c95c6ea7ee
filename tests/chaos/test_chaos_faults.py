"""Careless nodes: each broken promise of replication is noticed by the judges of `make chaos`.

The same judges find nothing wrong where the same happens to careful ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.testing.cluster import Cluster
from tools.cluster_chaos import fault, power
from tools.cluster_chaos.driver import Plan, run
from tools.cluster_chaos.outcome import Result
from tools.cluster_chaos.scenario import (
    Scenario,
    coordinator_cut_off,
    leader_alone_then_gone,
    power_failure,
    two_leaders_in_turn,
)
from tools.cluster_chaos.setup import NODE_SETTINGS


def run_with(
    planted: str | None, scenario: Scenario, nodes: int, folder: Path, rate: int
) -> Result:
    prepare = fault.name_of(planted) if planted is not None else power.PREPARE
    cluster = Cluster(folder / "cluster", nodes, NODE_SETTINGS, links=True, prepare=prepare)
    return run("penstock", cluster, folder, Plan(seed=1, rate=rate, scenario=scenario))


def has(result: Result, *signs: str) -> bool:
    return any(sign in violation for violation in result.violations for sign in signs)


@pytest.mark.timeout(400)
def test_a_leader_that_acknowledges_alone_is_noticed(tmp_path: Path) -> None:
    result = run_with("ignore_min_isr", leader_alone_then_gone, 5, tmp_path, 100)
    assert has(result, "history: lost", "history: vanished", "history: diverged")


@pytest.mark.timeout(400)
def test_truncation_by_high_watermark_is_noticed(tmp_path: Path) -> None:
    result = run_with("truncate_by_high_watermark", two_leaders_in_turn, 5, tmp_path, 400)
    assert has(result, "history: lost", "history: vanished", "history: diverged")


@pytest.mark.timeout(400)
def test_a_coordinator_that_nobody_fences_is_noticed(tmp_path: Path) -> None:
    result = run_with("unfenced_coordinator", coordinator_cut_off, 3, tmp_path, 100)
    assert has(result, "history: stale offset", "history: torn", "not copied", "copied 2 times")


@pytest.mark.timeout(400)
def test_an_acknowledgement_before_the_followers_flush_is_noticed(tmp_path: Path) -> None:
    result = run_with("acknowledge_before_flush", power_failure, 3, tmp_path, 100)
    assert has(result, "history: lost", "history: vanished", "history: diverged")


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("scenario", "nodes", "rate"),
    [
        (leader_alone_then_gone, 5, 100),
        (two_leaders_in_turn, 5, 400),
        (coordinator_cut_off, 3, 100),
        (power_failure, 3, 100),
    ],
)
def test_careful_nodes_pass(scenario: Scenario, nodes: int, rate: int, tmp_path: Path) -> None:
    assert run_with(None, scenario, nodes, tmp_path, rate).violations == []
