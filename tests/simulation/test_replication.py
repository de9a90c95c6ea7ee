"""Replication as a whole, over many histories: see `replica_checker` for what must hold.

Each history comes from its seed and is the same every time. `PENSTOCK_SEEDS=20000` runs more of
them; a failure names its seed, and `PENSTOCK_SEED=…` runs that one alone.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation.replica_checker import Violation
from tests.simulation.replica_cluster_model import Cluster
from tests.simulation.replica_planted import PLANTED

SEEDS = int(os.environ.get("PENSTOCK_SEEDS", "200"))
ONE_SEED = os.environ.get("PENSTOCK_SEED")
PLANTED_SEEDS = 100


def simulate(seed: int) -> Cluster:
    """Every tenth history is one of power cuts and late messages alone."""
    cluster = Cluster(seed, restless=seed % 10 == 9)
    try:
        cluster.simulate()
    except AssertionError as error:
        print(f"PENSTOCK_SEED={seed}")
        raise AssertionError(f"seed {seed}, at {cluster.now_ms} ms: {error}") from error
    return cluster


def test_no_history_breaks_a_promise() -> None:
    seeds = [int(ONE_SEED)] if ONE_SEED else range(SEEDS)
    acked = sum(simulate(seed).acked for seed in seeds)
    assert ONE_SEED or acked > 10 * SEEDS, "histories in which nothing succeeds show nothing"


def test_a_seed_is_one_history() -> None:
    first, second = simulate(7), simulate(7)
    assert first.controller.image == second.controller.image
    assert [log.batches for log in first.logs.values()] == [
        log.batches for log in second.logs.values()
    ]


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_noticed(name: str) -> None:
    restless = name == "broker epoch not checked"
    for seed in range(PLANTED_SEEDS):
        try:
            Cluster(seed, PLANTED[name], restless=restless).simulate()
        except Violation:
            return
    pytest.fail(f"{PLANTED_SEEDS} histories, and nobody noticed: {name}")
