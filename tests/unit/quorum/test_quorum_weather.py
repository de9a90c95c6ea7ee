"""Answers that are late, damaged or cut short, disks that are full: nothing committed is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.fetch import FetchRequest, FetchResponse
from penstock.protocol.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from penstock.quorum.fetch_wire import encode_fetch
from penstock.raft import ReplicaKey, Role
from penstock.raft.message import Fetch
from penstock.testing.disk import FaultyDisk
from tests.unit.quorum.quorum_kit import (
    Member,
    Network,
    assert_same_logs,
    leader_of,
    until,
    voters_of,
)
from tests.unit.quorum.test_quorum_three import played, stop, three

Answer = Callable[[Entity], Awaitable[Entity]]


def spoil(member: Member, change: Callable[[Entity, Entity], Entity]) -> Callable[[], None]:
    """What `member` answers goes through `change`, until the result is called."""
    honest: Answer = member.answer

    async def answer(request: Entity) -> Entity:
        return change(request, await honest(request))

    member.answer = answer  # type: ignore[method-assign]

    def end() -> None:
        member.answer = honest  # type: ignore[method-assign]

    return end


@played
async def test_damaged_batches_are_fetched_again(tmp_path: Path) -> None:
    _, members, leader = await three(tmp_path)
    await leader.write("a")
    spoiled = 0

    def flip(request: Entity, response: Entity) -> Entity:
        nonlocal spoiled
        if isinstance(response, FetchResponse):
            part = response.responses[0].partitions[0]
            if part.records and spoiled < 2:
                records = bytearray(bytes(part.records))  # type: ignore[call-overload]
                records[-1] ^= 1
                part.records = bytes(records)
                spoiled += 1
        return response

    spoil(leader, flip)
    await leader.write("b")
    await until(lambda: all(set(one.settings) == {"a", "b"} for one in members))
    assert spoiled == 2
    assert_same_logs(members)
    await stop(members)


@played
async def test_an_answer_held_over_two_elections_takes_no_effect(tmp_path: Path) -> None:
    """KAFKA-18723."""
    network, members, old = await three(tmp_path)
    await old.write("a")
    sleeper = next(one for one in members if one is not old)
    held: list[asyncio.Event] = []
    honest = old.answer

    async def hold(request: Entity) -> Entity:
        response = await honest(request)
        is_sleepers = (
            isinstance(request, FetchRequest)
            and request.replica_state is not None
            and request.replica_state.replica_id == sleeper.node_id
        )
        assert isinstance(response, FetchResponse) or not is_sleepers
        if is_sleepers and response.responses[0].partitions[0].records:  # type: ignore[attr-defined]
            held.append(asyncio.Event())
            await held[-1].wait()
        return response

    old.answer = hold  # type: ignore[method-assign]
    old.append("tail")
    await until(lambda: held)
    network.cut.add(old.node_id)
    old.answer = honest  # type: ignore[method-assign]
    new = await leader_of([one for one in members if one is not old])
    await new.write("b")
    await new.write("c")
    network.cut.clear()
    for event in held:
        event.set()
    await until(lambda: all({"b", "c"} <= set(one.settings) for one in members))
    assert_same_logs(members)
    assert all(one.settings == new.settings for one in members)
    await stop(members)


@played
async def test_a_snapshot_cut_short_is_fetched_again(tmp_path: Path) -> None:
    network, members, leader = await three(tmp_path, retained_bytes=0)
    for number in range(10):
        await leader.write(f"name-{number}")
    await leader.take_snapshot()
    cut = 0

    def shorten(request: Entity, response: Entity) -> Entity:
        nonlocal cut
        if isinstance(response, FetchSnapshotResponse) and cut < 2:
            part = response.topics[0].partitions[0]
            cut += 1
            part.size = len(part.unaligned_records) // 2
            part.unaligned_records = bytes(part.unaligned_records)[: part.size]  # type: ignore[call-overload]
        return response

    spoil(leader, shorten)
    broker = Member(network, tmp_path, 9, voters_of(1, 2, 3), can_vote=False).start()
    await until(lambda: len(broker.settings) == 10)
    assert cut == 2 and broker.quorum.failure is None
    assert not list(broker.directory.rglob("*.part"))
    await stop([*members, broker])


@played
async def test_a_snapshot_that_goes_while_it_is_fetched_is_begun_anew(tmp_path: Path) -> None:
    network, members, leader = await three(tmp_path, retained_bytes=0)
    for number in range(10):
        await leader.write(f"name-{number}")
    first = await leader.take_snapshot()
    asked = 0
    honest = leader.answer

    async def answer(request: Entity) -> Entity:
        nonlocal asked
        if isinstance(request, FetchSnapshotRequest):
            asked += 1
            if asked == 2:
                await leader.write("later")
                assert await leader.take_snapshot() is not None
        return await honest(request)

    leader.answer = answer  # type: ignore[method-assign]
    broker = Member(
        network, tmp_path, 9, voters_of(1, 2, 3), can_vote=False, fetch_bytes_max=100
    ).start()
    await until(lambda: len(broker.settings) == 11)
    assert broker.snapshots and broker.snapshots[-1] > first[0]  # type: ignore[index]
    await stop([*members, broker])


@played
async def test_a_follower_with_a_full_disk_catches_up_when_there_is_room(tmp_path: Path) -> None:
    network = Network()
    disk = FaultyDisk(0)
    disk.mkdir(str(tmp_path / "node-3"))
    disk.sync_all()
    members = [
        Member(network, tmp_path, node_id, voters_of(1, 2, 3), disk=disk if node_id == 3 else None)
        for node_id in (1, 2, 3)
    ]
    full = members[2]
    for member in members:
        member.start()
    leader = await leader_of(members)
    if leader is full:
        await full.stop()
        leader = await leader_of(members[:2])
        full.start()
    await leader.write("a")
    await until(lambda: full.settings == {"a": "1"})
    disk.free_bytes = 10
    await leader.write("b")
    await asyncio.sleep(0.2)
    assert full.settings == {"a": "1"} and full.quorum.failure is None
    disk.free_bytes = None
    await until(lambda: set(full.settings) == {"a", "b"})
    await stop(members)


@played
async def test_whoever_waits_for_a_fetch_is_told_who_leads_now(tmp_path: Path) -> None:
    _, members, leader = await three(tmp_path)
    await leader.write("a")
    waiting = asyncio.create_task(leader.answer(_fetch_at_end(leader)))
    await asyncio.sleep(0)
    leader.quorum.resign()
    response = await waiting
    assert isinstance(response, FetchResponse)
    part = response.responses[0].partitions[0]
    assert part.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert part.current_leader is not None
    assert part.current_leader.leader_epoch == leader.led[-1]
    await stop(members)


def _fetch_at_end(leader: Member) -> FetchRequest:
    end = leader.log.end_offset
    value = Fetch(leader.led[-1], ReplicaKey(77), end, leader.led[-1], end, 100)
    return encode_fetch(value, "test-cluster", 1000)


@played
async def test_epochs_of_others_are_told_apart(tmp_path: Path) -> None:
    """KIP-320: a stale reader and one from the future."""
    _, members, leader = await three(tmp_path)
    await leader.write("a")
    for shift, code in ((-1, ErrorCode.FENCED_LEADER_EPOCH), (1, ErrorCode.UNKNOWN_LEADER_EPOCH)):
        request = _fetch_at_end(leader)
        part = request.topics[0].partitions[0]
        part.current_leader_epoch += shift
        part.last_fetched_epoch = min(part.last_fetched_epoch, part.current_leader_epoch)
        response = await leader.answer(request)
        assert isinstance(response, FetchResponse)
        answered = response.responses[0].partitions[0]
        assert answered.error_code == code
        assert answered.current_leader is not None
        assert answered.current_leader.leader_id == leader.node_id
        node = response.node_endpoints[0]
        assert (node.node_id, node.port) == (leader.node_id, 9000 + leader.node_id)
    await stop(members)


@played
async def test_a_fetch_of_what_never_was_is_told_where_the_logs_part(tmp_path: Path) -> None:
    """KAFKA-15100: at once, not after a wait."""
    _, members, leader = await three(tmp_path)
    await leader.write("a")
    request = _fetch_at_end(leader)
    request.topics[0].partitions[0].fetch_offset += 1000
    request.max_wait_ms = 60_000
    response = await leader.answer(request)
    assert isinstance(response, FetchResponse)
    part = response.responses[0].partitions[0]
    assert part.error_code == 0 and part.diverging_epoch is not None
    assert part.diverging_epoch.end_offset == leader.log.end_offset
    await stop(members)


@played
async def test_a_quorum_that_failed_answers_nobody_and_fails_whoever_waits(tmp_path: Path) -> None:
    _, members, leader = await three(tmp_path)
    await leader.write("a")
    waiting = asyncio.create_task(leader.answer(_fetch_at_end(leader)))
    await asyncio.sleep(0)
    leader.quorum._end(ApiError(ErrorCode.KAFKA_STORAGE_ERROR))
    response = await waiting
    assert response.error_code == ErrorCode.BROKER_NOT_AVAILABLE  # type: ignore[attr-defined]
    response = await leader.answer(_fetch_at_end(leader))
    assert response.error_code == ErrorCode.BROKER_NOT_AVAILABLE  # type: ignore[attr-defined]
    others = [one for one in members if one is not leader]
    new = await leader_of(others)
    await new.write("b")
    assert new.quorum.view.role is Role.LEADER
    await stop(members)
