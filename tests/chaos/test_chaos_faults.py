"""Careless nodes: each broken promise of replication is noticed by the judges of `make chaos`."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.testing.cluster import Cluster
from tools.cluster_chaos import fault
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


def run_with(planted: str, scenario: Scenario, nodes: int, folder: Path, rate: int) -> Result:
    cluster = Cluster(
        folder / "cluster", nodes, NODE_SETTINGS, links=True, prepare=fault.name_of(planted)
    )
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
