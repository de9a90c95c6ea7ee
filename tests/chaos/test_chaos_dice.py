"""`make chaos` for half a minute: dice decide what happens to which node of a loaded cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.testing.cluster import Cluster
from tools.cluster_chaos import power
from tools.cluster_chaos.disturbance import Weather
from tools.cluster_chaos.driver import Plan, run
from tools.cluster_chaos.setup import NODE_SETTINGS

WEATHER = Weather(
    peace_s=(0.3, 1.5), down_s=(0.0, 4.0), pause_s=(0.3, 5.0), cut_s=(0.5, 6.0), everybody_share=0.1
)


@pytest.mark.timeout(900)
def test_a_loaded_cluster_under_fire_keeps_its_promises(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "cluster", 3, NODE_SETTINGS, links=True, prepare=power.PREPARE)
    plan = Plan(seed=3, seconds=30.0, weather=WEATHER, power_fails=True)
    result = run("penstock", cluster, tmp_path, plan)
    assert result.violations == []
    # What was not acknowledged may be there all the same.
    assert 0 < result.acknowledged <= result.copied
    assert result.transactions["committed"] > 0
    assert result.commits > 0
    assert result.disturbances.total() >= 8
    assert result.compared >= 8
