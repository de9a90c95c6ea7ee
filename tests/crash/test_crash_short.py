"""The short form of `make crash`: a loaded node, killed a few times, loses nothing."""

from __future__ import annotations

from pathlib import Path

from tools.durability.driver import Plan, run
from tools.durability.topic import BROKER_SETTINGS
from tools.penstock_broker import Penstock


def test_a_loaded_node_killed_five_times_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    node = Penstock(tmp_path / "data", BROKER_SETTINGS)
    outcome = run("penstock", node, Plan(kills=5, seed=20, rate=600, longest_life_s=1.2))
    assert outcome.kills.total() >= 5
    assert outcome.violations == []
    for topic in outcome.topics:
        assert outcome.ledger.acknowledged_count(topic.name) > 0, f"{topic.name} was not loaded"
    assert outcome.uncleaned == []
