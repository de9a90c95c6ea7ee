"""Voters that the log names: added, removed, and remembered through snapshots and restarts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.model.error import ErrorCode
from penstock.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from penstock.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from penstock.quorum.control_record import snapshot_controls
from penstock.quorum.metadata_snapshot import encode_snapshot, file_name
from penstock.raft import (
    ControlEntry,
    ReplicaKey,
    Role,
    SnapshotId,
    VersionRange,
    Voter,
    VoterHistory,
    VoterSet,
)
from tests.unit.quorum.quorum_kit import (
    Member,
    Network,
    endpoint_of,
    leader_of,
    until,
    voters_of,
)
from tests.unit.quorum.test_quorum_three import played, stop


def directory_id(node_id: int) -> bytes:
    return bytes([node_id]) * 16


def format_for(member: Member, *node_ids: int) -> None:
    """As `kafka-storage format --initial-controllers` leaves a directory."""
    voters = VoterSet(
        Voter(ReplicaKey(one, directory_id(one)), (endpoint_of(one),), VersionRange(0, 1))
        for one in node_ids
    )
    entries = [ControlEntry(-1, voters=voters), ControlEntry(-1, kraft_version=1)]
    controls = snapshot_controls(VoterHistory(None, entries), 0)
    path = member.directory / "__cluster_metadata-0"
    path.mkdir(parents=True)
    data = encode_snapshot([], controls, 0, 0, 30)
    (path / file_name(SnapshotId(0, 0))).write_bytes(data)


def dynamic(network: Network, directory: Path, node_id: int, **options: Any) -> Member:
    return Member(network, directory, node_id, voters_of(), **options)


async def add(leader: Member, node_id: int) -> ErrorCode:
    endpoint = endpoint_of(node_id)
    request = AddRaftVoterRequest(
        cluster_id="test-cluster",
        timeout_ms=5000,
        voter_id=node_id,
        voter_directory_id=directory_id(node_id),
        listeners=[Listener(name=endpoint.listener, host=endpoint.host, port=endpoint.port)],
    )
    while True:
        response = await leader.answer(request)
        code = ErrorCode(response.error_code)  # type: ignore[attr-defined]
        if code is not ErrorCode.REQUEST_TIMED_OUT:
            return code
        await asyncio.sleep(0.01)  # the newcomer has yet to be heard of at the log's end


async def remove(leader: Member, node_id: int) -> ErrorCode:
    request = RemoveRaftVoterRequest(
        cluster_id="test-cluster", voter_id=node_id, voter_directory_id=directory_id(node_id)
    )
    return ErrorCode((await leader.answer(request)).error_code)  # type: ignore[attr-defined]


@played
async def test_one_voter_becomes_three_and_the_first_leaves(tmp_path: Path) -> None:
    network = Network()
    first = dynamic(network, tmp_path, 1)
    format_for(first, 1)
    first.start()
    await until(lambda: first.led)
    assert first.quorum.view.role is Role.LEADER
    await first.write("a")
    others = [dynamic(network, tmp_path, node_id, bootstrap=(1,)) for node_id in (2, 3)]
    for member in others:
        member.start()
        await until(lambda member=member: member.settings)  # type: ignore[misc]
        assert await add(first, member.node_id) == ErrorCode.NONE
    assert await add(first, 2) == ErrorCode.DUPLICATE_VOTER
    await first.write("b")
    await until(lambda: all(one.quorum.voter_ids == (1, 2, 3) for one in others))
    view = first.quorum.describe()
    assert not isinstance(view, ErrorCode)
    assert [one.key.id for one in view.voters] == [1, 2, 3] and not view.observers
    assert await remove(first, 1) == ErrorCode.NONE
    new = await leader_of(others)
    await new.write("c")
    assert set(new.settings) == {"a", "b", "c"} and new.quorum.voter_ids == (2, 3)
    await until(lambda: "c" in first.settings)
    await stop([first, *others])


@played
async def test_voters_outlive_the_log_that_named_them(tmp_path: Path) -> None:
    network = Network()
    members = [dynamic(network, tmp_path, node_id, retained_bytes=0) for node_id in (1, 2, 3)]
    for member in members:
        format_for(member, 1, 2, 3)
        member.start()
    leader = await leader_of(members)
    await leader.write("a")
    await until(lambda: all(one.settings for one in members))
    for member in members:
        assert await member.take_snapshot() is not None
        assert member.log.start_offset > 0
    await stop(members)
    for member in members:
        member.led.clear()
        member.start()
        assert member.settings == {"a": "1"}, "a snapshot is committed"
    leader = await leader_of(members)
    await leader.write("b")
    await until(lambda: all(set(one.settings) == {"a", "b"} for one in members))
    assert all(one.quorum.voter_ids == (1, 2, 3) for one in members)
    newcomer = dynamic(network, tmp_path, 9, can_vote=False, bootstrap=(1, 2, 3)).start()
    await until(lambda: set(newcomer.settings) == {"a", "b"})
    assert newcomer.snapshots and newcomer.quorum.voter_ids == (1, 2, 3)
    await stop([*members, newcomer])


@played
async def test_a_voter_with_a_new_disk_only_observes(tmp_path: Path) -> None:
    network = Network()
    members = [dynamic(network, tmp_path, node_id) for node_id in (1, 2, 3)]
    for member in members:
        format_for(member, 1, 2, 3)
    format_ = [one for one in members if one.node_id != 3]
    for member in format_:
        member.start()
    leader = await leader_of(format_)
    await leader.write("a")
    replaced = members[2]
    replaced.config = _with_directory(replaced, b"x" * 16)
    replaced.start()
    await until(lambda: replaced.settings == {"a": "1"})
    view = leader.quorum.describe()
    assert not isinstance(view, ErrorCode)
    assert [one.key.directory_id for one in view.observers] == [b"x" * 16]
    await stop(members)


def _with_directory(member: Member, directory: bytes) -> Any:
    return replace(member.config, raft=replace(member.config.raft, directory_id=directory))


@played
async def test_fixed_voters_cannot_be_changed(tmp_path: Path) -> None:
    network = Network()
    member = Member(network, tmp_path, 1, voters_of(1)).start()
    await until(lambda: member.led)
    assert await add(member, 2) == ErrorCode.UNSUPPORTED_VERSION
    assert await remove(member, 1) == ErrorCode.UNSUPPORTED_VERSION
    await stop([member])
