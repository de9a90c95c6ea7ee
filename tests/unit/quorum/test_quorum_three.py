"""Three voters: elections, commits, a tail that goes, newcomers, restarts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.fetch import FetchRequest
from penstock.protocol.messages.vote import VoteRequest
from penstock.quorum.metadata_batch import read_controls
from penstock.raft import Role
from tests.unit.quorum.quorum_kit import (
    Member,
    Network,
    assert_same_logs,
    leader_of,
    until,
    voters_of,
)

Story = Callable[[Path], Coroutine[Any, Any, None]]


async def three(directory: Path, **options: Any) -> tuple[Network, list[Member], Member]:
    network = Network()
    members = [
        Member(network, directory, node_id, voters_of(1, 2, 3), **options) for node_id in (1, 2, 3)
    ]
    for member in members:
        member.start()
    return network, members, await leader_of(members)


async def stop(members: list[Member]) -> None:
    for member in members:
        if member.is_up:
            await member.kill()


def played(story: Story) -> Callable[[Path], None]:
    def test(tmp_path: Path) -> None:
        asyncio.run(story(tmp_path))

    test.__name__, test.__doc__ = story.__name__, story.__doc__
    return test


@played
async def test_what_is_committed_reaches_everybody(tmp_path: Path) -> None:
    _, members, leader = await three(tmp_path)
    for number in range(5):
        await leader.write(f"name-{number}", f"other-{number}")
    assert len(leader.settings) == 10
    await until(lambda: all(len(one.settings) == 10 for one in members))
    assert_same_logs(members)
    assert all(one.offsets == leader.offsets for one in members)
    followers = [one for one in members if one is not leader]
    assert all(one.followed[-1] == (leader.node_id, leader.led[-1]) for one in followers)
    await stop(members)


@played
async def test_nothing_is_committed_without_a_majority(tmp_path: Path) -> None:
    network, members, leader = await three(tmp_path)
    await leader.write("before")
    network.cut |= {one.node_id for one in members if one is not leader}
    journal = leader.quorum.journal
    assert journal is not None
    leader.append("lost")
    waiting = asyncio.create_task(journal.wait_committed(journal.end_offset))
    with pytest.raises(ApiError) as ended:
        await waiting
    assert ended.value.code == ErrorCode.NOT_CONTROLLER
    assert leader.settings == {"before": "1"} and leader.quorum.journal is None
    with pytest.raises(ApiError) as refused:
        journal.append([])
    assert refused.value.code == ErrorCode.NOT_CONTROLLER
    await stop(members)


@played
async def test_the_tail_of_a_leader_that_was_cut_off_goes(tmp_path: Path) -> None:
    network, members, old = await three(tmp_path)
    await old.write("kept")
    network.cut.add(old.node_id)
    for number in range(3):
        old.append(f"tail-{number}")
    others = [one for one in members if one is not old]
    new = await leader_of(others)
    await new.write("after")
    await until(lambda: old.quorum.journal is None)
    assert set(old.settings) == {"kept"}
    network.cut.clear()
    await until(lambda: set(old.settings) == {"kept", "after"})
    assert_same_logs(members)
    assert set(new.settings) == {"kept", "after"}
    await stop(members)


@played
async def test_a_killed_leader_is_replaced_and_comes_back_as_a_follower(tmp_path: Path) -> None:
    _, members, old = await three(tmp_path)
    await old.write("a")
    await old.kill()
    others = [one for one in members if one is not old]
    new = await leader_of(others)
    assert new.led[-1] > old.led[-1] and new.settings == {"a": "1"}
    await new.write("b")
    old.start()
    await until(lambda: set(old.settings) == {"a", "b"})
    assert old.quorum.view.role is Role.FOLLOWER
    assert_same_logs(members)
    await stop(members)


@played
async def test_a_leader_that_stops_hands_over_at_once(tmp_path: Path) -> None:
    _, members, old = await three(tmp_path)
    await old.write("a")
    await until(lambda: all(one.settings for one in members))
    await old.stop()
    new = await leader_of([one for one in members if one is not old])
    assert new.led[-1] == old.led[-1] + 1
    await new.write("b")
    await stop(members)


@played
async def test_all_of_them_restart_and_nothing_is_missing(tmp_path: Path) -> None:
    _, members, leader = await three(tmp_path)
    await leader.write("a", "b")
    await stop(members)
    for life in range(2):
        for member in members:
            member.led.clear()
            member.start()
            assert member.settings == {}, "what is committed is not known before a leader is"
        leader = await leader_of(members)
        await leader.write(f"life-{life}")
        count = 3 + life
        await until(lambda count=count: all(len(one.settings) == count for one in members))  # type: ignore[misc]
        await stop(members)
    assert set(leader.settings) == {"a", "b", "life-0", "life-1"}


@played
async def test_a_newcomer_behind_the_log_is_filled_from_a_snapshot(tmp_path: Path) -> None:
    network, members, leader = await three(tmp_path, retained_bytes=0, fetch_bytes_max=200)
    for number in range(20):
        await leader.write(f"name-{number}")
    assert await leader.take_snapshot() is not None
    assert leader.log.start_offset == leader.log.end_offset
    await leader.write("behind")
    broker = Member(network, tmp_path, 9, voters_of(1, 2, 3), can_vote=False)
    broker.start()
    await until(lambda: len(broker.settings) == 21)
    assert broker.snapshots and broker.log.start_offset > 0
    await leader.write("later")
    await until(lambda: "later" in broker.settings)
    assert not list(broker.directory.rglob("*.part"))
    await broker.kill()
    broker.start()
    await until(lambda: len(broker.settings) == 22)
    assert broker.quorum.view.role is Role.FOLLOWER and not broker.led
    await stop([*members, broker])


@played
async def test_a_follower_that_slept_is_filled_from_a_snapshot_too(tmp_path: Path) -> None:
    _, members, leader = await three(tmp_path, retained_bytes=0)
    await leader.write("early")
    await until(lambda: all(one.settings for one in members))
    sleeper = next(one for one in members if one is not leader)
    await sleeper.kill()
    for number in range(5):
        await leader.write(f"name-{number}")
    await leader.take_snapshot()
    sleeper.start()
    await until(lambda: len(sleeper.settings) == 6)
    assert len(sleeper.snapshots) == 1
    await leader.write("later")
    await until(lambda: all("later" in one.settings for one in members))
    assert_same_logs(members)
    await stop(members)


@played
async def test_a_broker_finds_the_leader_by_asking_anybody(tmp_path: Path) -> None:
    network, members, leader = await three(tmp_path)
    await leader.write("a")
    other = next(one for one in members if one is not leader)
    broker = Member(
        network, tmp_path, 9, voters_of(), can_vote=False, bootstrap=(other.node_id,)
    ).start()
    await until(lambda: broker.settings == {"a": "1"})
    assert broker.followed[-1] == (leader.node_id, leader.led[-1])
    view = leader.quorum.describe()
    assert not isinstance(view, ErrorCode)
    assert [one.key.id for one in view.observers] == [9]
    await stop([*members, broker])


@played
async def test_an_idle_quorum_is_not_busy(tmp_path: Path) -> None:
    """KAFKA-19605: a fetch with nothing to fetch waits at the leader."""
    network, members, leader = await three(tmp_path)
    await leader.write("a")
    await until(lambda: all(one.settings for one in members))
    network.calls.clear()
    await asyncio.sleep(0.5)
    fetches = [one for one in network.calls if isinstance(one[2], FetchRequest)]
    assert 4 <= len(fetches) <= 2 * 8
    await stop(members)


@played
async def test_a_returning_voter_disturbs_nobody(tmp_path: Path) -> None:
    """KAFKA-17641: it asks before it stands."""
    network, members, leader = await three(tmp_path)
    await leader.write("a")
    lonely = next(one for one in members if one is not leader)
    network.cut.add(lonely.node_id)
    await asyncio.sleep(1.0)
    assert lonely.quorum.view.role is not Role.FOLLOWER
    network.cut.clear()
    await until(lambda: lonely.quorum.view.role is Role.FOLLOWER)
    await leader.write("b")
    await until(lambda: set(lonely.settings) == {"a", "b"})
    assert len(leader.led) == 1 and lonely.quorum.view.epoch == leader.led[0]
    await stop(members)


@played
async def test_voters_that_cannot_be_asked_first_are_stood_before_at_once(tmp_path: Path) -> None:
    network = Network()
    network.versions[VoteRequest] = 1
    members = [Member(network, tmp_path, node_id, voters_of(1, 2, 3)) for node_id in (1, 2, 3)]
    for member in members:
        member.start()
    leader = await leader_of(members)
    await leader.write("a")
    await stop(members)


@played
async def test_another_clusters_nodes_are_refused(tmp_path: Path) -> None:
    _, members, leader = await three(tmp_path)
    response = await leader.answer(FetchRequest(cluster_id="other"))
    assert response.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID  # type: ignore[attr-defined]
    response = await leader.answer(VoteRequest(cluster_id="other"))
    assert response.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID  # type: ignore[attr-defined]
    response = await leader.answer(FetchRequest())
    assert response.error_code == ErrorCode.INVALID_REQUEST  # type: ignore[attr-defined]
    await stop(members)


@played
async def test_each_epoch_begins_with_who_leads_it(tmp_path: Path) -> None:
    _, members, leader = await three(tmp_path)
    await leader.write("a")
    header, batch = next(leader.log.batches(0, leader.log.end_offset))
    assert header.is_control and header.partition_leader_epoch == leader.led[0]
    assert len(read_controls(header, batch)) == 1
    await stop(members)
