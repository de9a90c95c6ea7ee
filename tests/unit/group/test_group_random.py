"""Random requests, failed writes, restarts: what must hold whatever happens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.group import Caller, GroupConfig, GroupEntry, GroupShard
from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.state import GroupState
from penstock.group.timer import RetentionTimer
from penstock.machine import Decision
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from penstock.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.transcripts.group_script import subscription
from tests.transcripts.group_world import GroupWorld

CONFIG = GroupConfig(
    group_initial_rebalance_delay_ms=100,
    group_max_size=4,
    group_min_session_timeout_ms=1,
    offsets_retention_ms=50_000,
    offsets_retention_check_interval_ms=20_000,
)
PROTOCOLS = (("range", "sticky"), ("sticky", "range"), ("range", "sticky"), ("sticky",))
INSTANCES = (None, None, None, "i1", "i2")


@dataclass(frozen=True)
class Op:
    name: str
    group: str
    member: int
    """Which of the ids seen so far; -1 for none."""
    generation: int
    """0 for the present one, else so far off."""
    choice: int
    written: bool


ops = st.builds(
    Op,
    name=st.sampled_from(
        ["join", "rejoin", "sync"] * 3
        + ["gather", "settle"] * 2
        + ["heartbeat", "leave", "commit", "advance", "advance", "delete"]
    ),
    group=st.sampled_from(["g", "g", "g", "h"]),
    member=st.integers(-1, 9),
    generation=st.sampled_from([0] * 8 + [-1, 1]),
    choice=st.integers(0, 59),
    written=st.sampled_from([True] * 9 + [False]),
)


class Walk:
    def __init__(self) -> None:
        self.world = GroupWorld(CONFIG)
        self.ids: list[str] = []

    def step(self, op: Op) -> None:
        group = self.world.shard.classic_groups.find(op.group)
        members = [] if group is None else list(group.members)
        if op.name == "gather":
            for member_id in members:
                self._request(replace(op, name="rejoin"), member_id)
        elif op.name == "settle":
            for member_id in members:
                self._request(replace(op, name="sync", generation=0), member_id)
        elif op.name in ("rejoin", "sync", "heartbeat", "commit") and members and op.member >= 0:
            self._request(op, members[op.member % len(members)])
        else:
            self._request(op, self._id(op))

    def _request(self, op: Op, member_id: str) -> None:
        self.member_id = member_id
        if op.name == "advance":
            until_ms = self.world.now_ms + op.choice * op.choice * 5
            while (rung := self.world.ring(until_ms)) is not None:
                self._learn(rung[1])
            return
        before = _snapshot(self.world.shard)
        decision: Decision[GroupEntry, object] = getattr(self, op.name)(op)
        assert _snapshot(self.world.shard) == before, "deciding changed something"
        if not op.written and decision.records:
            return  # the disk was full: nothing may have happened
        self.world.take(decision)
        self._learn(decision)

    def _learn(self, decision: Decision[GroupEntry, Any]) -> None:
        replies = [decision.reply, *(answer for _, answer in decision.answers)]
        for reply in replies:
            if isinstance(reply, JoinGroupResponse) and reply.member_id not in [*self.ids, ""]:
                self.ids.append(reply.member_id)

    def _id(self, op: Op) -> str:
        """Anybody ever seen, or nobody."""
        return "" if op.member < 0 or not self.ids else self.ids[op.member % len(self.ids)]

    def _generation(self, op: Op) -> int:
        group = self.world.shard.classic_groups.find(op.group)
        return (0 if group is None else group.generation) + op.generation

    def _instance(self, op: Op) -> str | None:
        """Mostly the one the id was made for."""
        if self.member_id and op.choice % 7:
            return self.member_id.split("-")[0] if self.member_id.startswith("i") else None
        return INSTANCES[op.choice % len(INSTANCES)]

    def join(self, op: Op) -> Decision[GroupEntry, JoinGroupResponse]:
        request = JoinGroupRequest(
            group_id=op.group,
            member_id=self.member_id,
            group_instance_id=self._instance(op),
            session_timeout_ms=1_000 + 1_000 * (op.choice % 11),
            rebalance_timeout_ms=(0, 20_000, 10_000, 20_000, 5_000)[op.choice % 5],
            protocol_type="consumer",
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=subscription(f"t{op.choice % 2}"))
                for name in PROTOCOLS[op.choice % len(PROTOCOLS)]
            ],
        )
        caller = Caller((3, 8, 9)[op.choice % 3], "c")
        return self.world.shard.classic.decide_join(request, caller, self.world.now_ms)

    rejoin = join

    def sync(self, op: Op) -> Decision[GroupEntry, object]:
        request = SyncGroupRequest(
            group_id=op.group,
            member_id=self.member_id,
            generation_id=self._generation(op),
            group_instance_id=self._instance(op),
            assignments=[
                SyncGroupRequestAssignment(member_id=one, assignment=one.encode())
                for one in self.ids
            ],
        )
        return self.world.shard.classic.decide_sync(request, Caller(4), self.world.now_ms)

    def heartbeat(self, op: Op) -> Decision[GroupEntry, object]:
        request = HeartbeatRequest(
            group_id=op.group, member_id=self.member_id, generation_id=self._generation(op)
        )
        return self.world.shard.classic.decide_heartbeat(request, self.world.now_ms)

    def leave(self, op: Op) -> Decision[GroupEntry, object]:
        members = [MemberIdentity(member_id=self.member_id, group_instance_id=self._instance(op))]
        request = LeaveGroupRequest(group_id=op.group, members=members)
        return self.world.shard.classic.decide_leave(request, Caller(5), self.world.now_ms)

    def commit(self, op: Op) -> Decision[GroupEntry, object]:
        partition = OffsetCommitRequestPartition(
            partition_index=op.choice % 3, committed_offset=op.choice
        )
        request = OffsetCommitRequest(
            group_id=op.group,
            member_id=self.member_id,
            generation_id_or_member_epoch=self._generation(op) if op.member >= 0 else -1,
            topics=[OffsetCommitRequestTopic(name=f"t{op.choice % 3}", partitions=[partition])],
        )
        return self.world.shard.offsets.decide_commit(request, Caller(9), self.world.now_ms)

    def delete(self, op: Op) -> Decision[GroupEntry, object]:
        return self.world.shard.admin.decide_delete([op.group])


@settings(max_examples=150, deadline=None)
@given(st.lists(ops, min_size=30, max_size=80))
def test_whatever_happens(steps: list[Op]) -> None:
    walk = Walk()
    for op in steps:
        walk.step(op)
        check_tickets(walk.world)
        check_against_log(walk.world)
    check_everything_ends(walk.world)


@settings(max_examples=50, deadline=None)
@given(st.lists(ops, min_size=20, max_size=40), st.lists(ops, min_size=10, max_size=30))
def test_life_goes_on_after_a_restart(before: list[Op], after: list[Op]) -> None:
    walk = Walk()
    for op in before:
        walk.step(op)
    walk.world.start()
    for op in after:
        walk.step(op)
        check_tickets(walk.world)
        check_against_log(walk.world)
    check_everything_ends(walk.world)


def check_tickets(world: GroupWorld) -> None:
    """Every request that waits is in some group's hands; `take` sees to it that none is answered
    twice."""
    held: list[int] = []
    for group in world.shard.classic_groups.groups():
        held += [*group.join_tickets.values(), *group.sync_tickets.values()]
        assert set(group.join_tickets) <= set(group.members)
        assert set(group.sync_tickets) <= set(group.members)
        if group.state is not GroupState.PREPARING_REBALANCE:
            assert not group.join_tickets
        if group.state is not GroupState.COMPLETING_REBALANCE:
            assert not group.sync_tickets
    assert len(held) == len(set(held))
    assert set(held) == world.parked


def check_against_log(world: GroupWorld) -> None:
    """A machine that replays the log knows what this one does, rebalances under way apart."""
    copy = GroupShard(CONFIG, lambda: "none")
    for offset, record in enumerate(world.log):
        copy.replay(record, offset)
    assert copy.classic_groups.stored() == world.shard.classic_groups.stored()
    for group in world.shard.classic_groups.groups():
        offsets = world.shard.store.of_group(group.group_id)
        assert copy.store.of_group(group.group_id) == offsets
        if group.state in (GroupState.EMPTY, GroupState.STABLE):
            loaded = copy.classic_groups.find(group.group_id) or ClassicGroup(group.group_id)
            assert _settled(loaded) == _settled(group)


def check_everything_ends(world: GroupWorld) -> None:
    """Left alone, every request is answered, every member expires, and nothing stays in memory."""
    until_ms = world.now_ms + 1_000_000
    while world.ring(until_ms) is not None:
        pass
    assert not world.parked
    assert len(world.shard.classic_groups) == 0
    assert list(world.shard.store.group_ids()) == []
    assert len(world.timers) == 1
    assert world.timers.deadline_ms(RetentionTimer()) is not None


def _settled(group: ClassicGroup) -> object:
    members = {
        one.member_id: (one.instance_id, one.assignment, one.session_timeout_ms)
        for one in group.members.values()
    }
    shape = (group.state, group.generation, group.protocol_name, group.leader_id)
    return shape, members, group.static_ids, group.subscribed


def _snapshot(shard: GroupShard) -> object:
    groups = [repr(group) for group in shard.classic_groups.groups()]
    offsets = {one: dict(shard.store.of_group(one)) for one in shard.store.group_ids()}
    return groups, shard.classic_groups.stored(), offsets


def test_the_walk_reaches_stable_groups() -> None:
    """Else the tests above would test little."""
    walk = Walk()
    plain = {"generation": 0, "choice": 18, "written": True}
    walk.step(Op("join", "g", -1, **plain))
    walk.step(Op("advance", "g", 0, 0, 10, True))
    assert walk.ids
    walk.step(Op("sync", "g", 0, **plain))
    group = walk.world.shard.classic_groups.find("g")
    assert group is not None
    assert group.state is GroupState.STABLE
