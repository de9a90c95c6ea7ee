"""Requests that are refused leave nothing: no group, member, timer, parked call or record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.group import Caller, GroupConfig, GroupEntry
from penstock.group.timer import SessionTimer
from penstock.machine import Decision
from penstock.model.error import ErrorCode
from penstock.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.transcripts.group_world import GroupWorld

ROUNDS = 2_000
V9 = Caller(9, "client", "/1.2.3.4")
CONFIG = GroupConfig(group_initial_rebalance_delay_ms=0, offset_metadata_max_bytes=10)


def join(group_id: str, member_id: str = "", **more: object) -> JoinGroupRequest:
    settings: dict[str, object] = {
        "group_id": group_id,
        "member_id": member_id,
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 60_000,
        "protocol_type": "consumer",
        "protocols": [JoinGroupRequestProtocol(name="range", metadata=b"")],
    }
    return JoinGroupRequest(**(settings | more))  # type: ignore[arg-type]


def commit(
    group_id: str, member_id: str, generation: int, metadata: str = ""
) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_metadata=metadata
    )
    return OffsetCommitRequest(
        group_id=group_id,
        member_id=member_id,
        generation_id_or_member_epoch=generation,
        topics=[OffsetCommitRequestTopic(name="t", partitions=[partition])],
    )


def settled_world() -> tuple[GroupWorld, str]:
    """A stable group `g` of one member."""
    world = GroupWorld(CONFIG)
    first = world.shard.classic.decide_join(join("g"), V9, world.now_ms)
    world.take(first)
    member_id = first.reply.member_id  # type: ignore[union-attr]
    world.take(world.shard.classic.decide_join(join("g", member_id), V9, world.now_ms))
    world.ring(world.now_ms)
    sync = SyncGroupRequest(
        group_id="g",
        member_id=member_id,
        generation_id=1,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member_id=member_id, assignment=b"all")],
    )
    world.take(world.shard.classic.decide_sync(sync, Caller(5), world.now_ms))
    group = world.shard.classic_groups.find("g")
    assert group is not None and group.state.value == "Stable"
    return world, member_id


def refused(world: GroupWorld, member_id: str, number: int) -> Iterator[Decision[GroupEntry, Any]]:
    """Every way to be refused, each under names never heard of before."""
    classic, now_ms = world.shard.classic, world.now_ms
    nobody, nowhere = f"nobody-{number}", f"nowhere-{number}"
    for group_id in ("g", nowhere):
        yield classic.decide_join(join(group_id, nobody), V9, now_ms)
        yield classic.decide_join(join(group_id, session_timeout_ms=1), V9, now_ms)
        yield classic.decide_join(join(group_id, protocol_type="connect", protocols=[]), V9, now_ms)
        for generation in (0, 1, 99):
            beat = HeartbeatRequest(group_id=group_id, member_id=nobody, generation_id=generation)
            yield classic.decide_heartbeat(beat, now_ms)
            yield world.shard.offsets.decide_commit(
                commit(group_id, nobody, generation), Caller(8), now_ms
            )
        yield classic.decide_sync(
            SyncGroupRequest(
                group_id=group_id,
                member_id=nobody,
                protocol_type="consumer",
                protocol_name="range",
                assignments=[SyncGroupRequestAssignment(member_id=nobody, assignment=b"x")],
            ),
            Caller(5),
            now_ms,
        )
        gone = LeaveGroupRequest(group_id=group_id, members=[MemberIdentity(member_id=nobody)])
        yield classic.decide_leave(gone, Caller(5), now_ms)
    stale = HeartbeatRequest(group_id="g", member_id=member_id, generation_id=0)
    yield classic.decide_heartbeat(stale, now_ms)
    yield world.shard.offsets.decide_commit(commit("g", member_id, 0), Caller(8), now_ms)
    yield world.shard.offsets.decide_commit(commit("g", member_id, 1, "x" * 11), Caller(8), now_ms)


def sizes(world: GroupWorld) -> dict[str, int]:
    shard = world.shard
    group = shard.classic_groups.find("g")
    assert group is not None
    return {
        "groups": len(shard.classic_groups),
        "consumer groups": len(list(shard.consumers)),
        "members": len(group.members),
        "pending": len(group.pending_join) + len(group.pending_sync),
        "tickets": len(group.join_tickets) + len(group.sync_tickets),
        "groups with offsets": len(list(shard.store.group_ids())),
        "timers": len(world.timers),
        "leftovers of timers": max(0, len(world.timers._heap) - 2 * len(world.timers) - 64),
        "parked": len(world.parked),
        "records": len(world.log),
    }


def test_thousands_of_refused_requests_leave_nothing() -> None:
    world, member_id = settled_world()
    before = sizes(world)
    for number in range(ROUNDS):
        for decision in refused(world, member_id, number):
            assert not decision.answers and not decision.records
            world.take(decision)
    assert sizes(world) == before
    beat = HeartbeatRequest(group_id="g", member_id=member_id, generation_id=1)
    reply = world.shard.classic.decide_heartbeat(beat, world.now_ms).reply
    assert reply.error_code == ErrorCode.NONE, "the group was not disturbed"  # type: ignore[union-attr]


def test_ids_that_nobody_comes_back_with_are_forgotten() -> None:
    world, member_id = settled_world()
    before = sizes(world)
    for _ in range(ROUNDS):
        decision = world.shard.classic.decide_join(join("g"), V9, world.now_ms)
        assert decision.reply.error_code == ErrorCode.MEMBER_ID_REQUIRED  # type: ignore[union-attr]
        world.take(decision)
    assert sizes(world)["pending"] == ROUNDS
    session = [key for key in world.timers._entries if getattr(key, "kind", "") == "session"]
    assert len(session) == ROUNDS + 1
    # The member is heard of meanwhile; the others never come.
    world.timers.schedule(SessionTimer("g", member_id), 60_000)
    while world.ring(20_000) is not None:
        pass
    assert sizes(world) == before


def test_members_that_vanish_leave_nothing() -> None:
    """Each comes, is parked in its join, and is never heard of again."""
    world = GroupWorld(CONFIG)
    for number in range(300):
        request = join(f"g-{number}")
        first = world.shard.classic.decide_join(request, V9, world.now_ms)
        world.take(first)
        request.member_id = first.reply.member_id  # type: ignore[union-attr]
        world.take(world.shard.classic.decide_join(request, V9, world.now_ms))
    while world.ring(world.now_ms + 200_000) is not None and len(world.timers) > 1:
        pass
    assert not world.parked and len(world.timers) == 1, "only the sweep for expired offsets is left"
    assert {len(group.members) for group in world.shard.classic_groups.groups()} == {0}
    assert {len(group.pending_join) for group in world.shard.classic_groups.groups()} == {0}


def test_unknown_members_of_the_consumer_protocol_leave_nothing() -> None:
    world, _ = settled_world()
    before = sizes(world)
    for number in range(ROUNDS):
        request = ConsumerGroupHeartbeatRequest(
            group_id=f"new-{number}", member_id=f"nobody-{number}", member_epoch=7
        )
        decision = world.shard.consumer.decide_heartbeat(request, Caller(1), world.now_ms)
        assert decision.reply.error_code  # type: ignore[union-attr]
        world.take(decision)
    assert sizes(world) == before
