"""Raft under everything at once: lost, late and doubled messages, partitions, crashes, slow disks,
snapshots, voter changes.

`PENSTOCK_SEEDS=20000` runs that many; a failure names its seed, and `World(seed).run()` replays it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from unittest.mock import patch

import pytest

from penstock.model.error import ErrorCode
from penstock.raft import EpochEnd, Ready, Truncate, Voter
from penstock.raft.election import Election
from penstock.raft.fetch_service import FetchService
from penstock.raft.following import Following
from penstock.raft.leadership import Leadership
from penstock.raft.message import Fetch, Vote
from penstock.raft.progress import majority_offset
from penstock.raft.role import Follower, Leader, Prospective, Unattached
from penstock.raft.voter_change import VoterChanges
from tests.simulation.raft_check import Violation
from tests.simulation.raft_disk import SimLog
from tests.simulation.raft_world import SimNode, World

SEEDS = int(os.environ.get("PENSTOCK_SEEDS", "200"))
SHARES = 8
PLANTED_SEEDS_MAX = 400


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.timeout(60 + SEEDS)
def test_what_is_committed_stays(share: int) -> None:
    for seed in range(share, SEEDS, SHARES):
        World(seed).run()


def test_a_seed_replays_exactly() -> None:
    for seed in range(3):
        first, second = World(seed), World(seed)
        first.run()
        second.run()
        assert (first.trace, first.steps) == (second.trace, second.steps)
        assert first.checker.committed == second.checker.committed


def test_runs_are_not_idle() -> None:
    """A checker that sees nothing finds nothing."""
    worlds = [World(seed) for seed in range(20)]
    for world in worlds:
        world.run()
    assert sum(len(world.checker.leaders) for world in worlds) > 30
    assert sum(world.checker.commits for world in worlds) > 200
    logs = [node.disk.log for world in worlds for node in world.nodes.values()]
    assert sum(log.start_offset > 0 for log in logs) > 5
    voter_counts = {len(node.machine.voters) for world in worlds for node in world.nodes.values()}
    assert len(voter_counts) > 3


# Faults in the machine or its host, each of which the checker must find


def vote_is_not_persisted(_world: World, _node: SimNode, _ready: Ready) -> None:
    pass


def vote_is_given_twice(election: Election, request: Vote) -> bool:
    role = election._core.role
    return isinstance(role, Unattached | Prospective) and election._is_up_to_date(request)


def votes_go_to_short_logs(_election: Election, _request: Vote) -> bool:
    return True


_count = Leadership.count


def old_epochs_are_counted(leadership: Leadership, leader: Leader) -> bool:
    start, leader.epoch_start_offset = leader.epoch_start_offset, -1
    try:
        return _count(leadership, leader)
    finally:
        leader.epoch_start_offset = start


def removed_leader_counts_itself(leadership: Leadership, leader: Leader) -> bool:
    core = leadership._core
    held = [leadership._held(leader, voter) for voter in core.voters.voters]
    if not core.is_voter:
        held.append(core.log.flushed_offset)
    offset = majority_offset(held)
    if offset <= leader.epoch_start_offset or offset <= (leader.high_watermark or -1):
        return False
    leader.high_watermark = offset
    core.advance_high_watermark(offset)
    return True


_held = Leadership._held


def leader_counts_what_it_has_not_synced(
    leadership: Leadership, leader: Leader, voter: Voter
) -> int:
    if voter.key.id == leadership._core.config.node_id:
        return leadership._core.log.end_offset
    return _held(leadership, leader, voter)


def half_is_enough(offsets: object) -> int:
    held = sorted(offsets, reverse=True)  # type: ignore[call-overload]
    return int(held[(len(held) - 1) // 2]) if held else -1


def truncation_goes_below_the_high_watermark(
    following: Following, role: Follower, leader_end: EpochEnd
) -> None:
    core = following._core
    target = max(core.log.start_offset, min(leader_end.end_offset, core.log.end_offset) - 3)
    role.is_writing = True
    core.history.truncate(target)
    core.log_work.append(Truncate(target))


def divergence_is_not_noticed(service: FetchService, request: Fetch) -> object:
    answer = _judge(service, request)
    if answer.diverging is None:
        return answer
    end_offset = max(request.offset, service._core.log.end_offset)
    return answer._replace(diverging=None, end_offset=end_offset)


_judge = FetchService._judge


def changes_overlap(
    changes: VoterChanges, leader: Leader, change: str
) -> tuple[ErrorCode, str] | None:
    leader.change = None
    return None


PLANTED: list[tuple[type, str, Callable[..., object]]] = [
    (World, "_persist", vote_is_not_persisted),
    (Election, "_may_have_vote", vote_is_given_twice),
    (Election, "_is_up_to_date", votes_go_to_short_logs),
    (Leadership, "count", old_epochs_are_counted),
    (Leadership, "count", removed_leader_counts_itself),
    (Leadership, "_held", leader_counts_what_it_has_not_synced),
    (Following, "_turn_back", truncation_goes_below_the_high_watermark),
    (FetchService, "_judge", divergence_is_not_noticed),
    (VoterChanges, "_problem", changes_overlap),
]


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault[2].__name__)
def test_planted_faults_are_found(fault: tuple[type, str, Callable[..., object]]) -> None:
    owner, name, planted = fault
    with patch.object(owner, name, planted), pytest.raises(Violation, match="seed"):
        for seed in range(PLANTED_SEEDS_MAX):
            World(seed).run()


def test_a_disk_that_says_too_early_that_it_has_synced() -> None:
    at_once = property(lambda log: log.end_offset)
    with (
        patch.object(SimLog, "flushed_offset", at_once),
        pytest.raises(Violation, match="held by"),
    ):
        for seed in range(PLANTED_SEEDS_MAX):
            World(seed).run()


def test_half_of_the_voters_is_not_enough() -> None:
    with (
        patch("penstock.raft.leadership.majority_offset", half_is_enough),
        pytest.raises(Violation, match="held by"),
    ):
        for seed in range(PLANTED_SEEDS_MAX):
            World(seed).run()
