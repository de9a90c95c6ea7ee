"""The short form of `make chaos`: a loaded cluster loses, doubles and tears nothing while one node
after the other, and then all at once, goes away."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.testing.cluster import Cluster
from tools.cluster_chaos import power
from tools.cluster_chaos.driver import Plan, run
from tools.cluster_chaos.scenario import a_little_of_everything
from tools.cluster_chaos.setup import NODE_SETTINGS


@pytest.mark.timeout(900)
def test_a_loaded_cluster_keeps_its_promises_while_nodes_go_away(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "cluster", 3, NODE_SETTINGS, links=True, prepare=power.PREPARE)
    plan = Plan(seed=1, scenario=a_little_of_everything)
    result = run("penstock", cluster, tmp_path, plan)
    assert result.violations == []
    # What was not acknowledged may be there all the same.
    assert 0 < result.acknowledged <= result.copied
    assert result.transactions["committed"] > 0
    assert result.commits > 0
    assert result.compared >= 8
