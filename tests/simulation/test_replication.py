"""Replication as a whole, over many histories: see `replica_checker` for what must hold."""

from __future__ import annotations

import os

import pytest

from tests.simulation.replica_cluster_model import Cluster

SEEDS = int(os.environ.get("PENSTOCK_SEEDS", "200"))


def run(seed: int) -> Cluster:
    cluster = Cluster(seed)
    try:
        cluster.simulate()
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, at {cluster.now_ms} ms: {error}") from error
    return cluster


def test_no_history_loses_what_was_promised() -> None:
    acked = sum(run(seed).acked for seed in range(SEEDS))
    assert acked > 20 * SEEDS
