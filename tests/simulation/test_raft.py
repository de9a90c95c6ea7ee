"""Raft under everything at once: lost, late and doubled messages, partitions, crashes, slow disks,
snapshots, voter changes.

`PENSTOCK_SEEDS=20000` runs that many; a failure names its seed, and `World(seed).run()` replays it.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation.raft_world import World

SEEDS = int(os.environ.get("PENSTOCK_SEEDS", "240"))
SHARES = 8


@pytest.mark.parametrize("share", range(SHARES))
def test_what_is_committed_stays(share: int) -> None:
    for seed in range(share, SEEDS, SHARES):
        World(seed).run()
