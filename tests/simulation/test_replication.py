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
from tests.simulation.replica_stored_log import StoredLog

SEEDS = int(os.environ.get("PENSTOCK_SEEDS", "200"))
ONE_SEED = os.environ.get("PENSTOCK_SEED")
PLANTED_SEEDS = 100
PARTS = 8


def simulate(seed: int) -> Cluster:
    """Every tenth history is one of power cuts and late messages alone."""
    cluster = Cluster(seed, restless=seed % 10 == 9)
    try:
        cluster.simulate()
    except AssertionError as error:
        print(f"PENSTOCK_SEED={seed}")
        raise AssertionError(f"seed {seed}, at {cluster.now_ms} ms: {error}") from error
    return cluster


@pytest.mark.parametrize("part", range(PARTS))
def test_no_history_breaks_a_promise(part: int) -> None:
    seeds = [int(ONE_SEED)] if ONE_SEED else range(part, SEEDS, PARTS)
    acked = sum(simulate(seed).acked for seed in seeds)
    assert ONE_SEED or acked > 10 * len(seeds), "histories in which nothing succeeds show nothing"


def test_a_seed_is_one_history() -> None:
    first, second = simulate(7), simulate(7)
    assert first.controller.image == second.controller.image
    assert [log.batches for log in first.logs.values()] == [
        log.batches for log in second.logs.values()
    ]


@pytest.mark.parametrize("log_seed", range(max(SEEDS // 25, 1)))
def test_the_same_holds_for_real_logs(log_seed: int) -> None:
    """Every fourth without flushes; the disk loses what was not synced when power fails."""
    flushes = log_seed % 4 != 3
    cluster = Cluster(
        log_seed,
        flushes=flushes,
        make_log=lambda one: StoredLog(10 * log_seed + one, flushes=flushes),
    )
    cluster.simulate()


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_noticed(name: str) -> None:
    restless = name == "broker epoch not checked"
    for seed in range(PLANTED_SEEDS):
        try:
            Cluster(seed, PLANTED[name], restless=restless).simulate()
        except Violation:
            return
    pytest.fail(f"{PLANTED_SEEDS} histories, and nobody noticed: {name}")
