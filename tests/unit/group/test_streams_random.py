"""Streams groups under members that come, go, answer late and restart: what must never happen."""

from __future__ import annotations

import random

import pytest

from penstock.group import Caller, GroupConfig, Topic
from penstock.group.streams.member import StreamsMember
from penstock.group.streams.task import each
from penstock.machine import Parked
from penstock.model.error import ErrorCode
from penstock.protocol.messages.streams_group_heartbeat import (
    RequestTaskIds,
    ResponseTaskIds,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from tests.transcripts.group_world import GroupWorld
from tests.transcripts.streams_script import topology_of

TOPOLOGY = topology_of("0 in:t out:r/1 via:r store:c")
GROUP = "g"


class Member:
    """As Kafka Streams does it: it gives up at once what it is no longer told to have."""

    def __init__(self, name: str, process: str) -> None:
        self.name = name
        self.process = process
        self.epoch = 0
        self.tasks: list[list[RequestTaskIds]] = [[], []]

    def beat(self, world: GroupWorld, heard: bool = True) -> None:
        """`heard`: whether the answer arrives."""
        joins = self.epoch == 0
        if joins:
            self.tasks = [[], []]
        request = StreamsGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.name,
            member_epoch=self.epoch,
            rebalance_timeout_ms=5_000 if joins else -1,
            topology=TOPOLOGY if joins else None,
            process_id=self.process if joins else None,
            active_tasks=self.tasks[0],
            standby_tasks=self.tasks[1],
            warmup_tasks=[],
        )
        response = send(world, request)
        if heard:
            self._hear(response)

    def _hear(self, response: StreamsGroupHeartbeatResponse) -> None:
        if response.error_code:
            assert response.error_code in (
                ErrorCode.FENCED_MEMBER_EPOCH,
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.GROUP_ID_NOT_FOUND,
            ), response
            self.epoch = 0
            return
        self.epoch = response.member_epoch
        for place, told in enumerate((response.active_tasks, response.standby_tasks)):
            if told is not None:
                self.tasks[place] = [_reported(one) for one in told]


def _reported(told: ResponseTaskIds) -> RequestTaskIds:
    return RequestTaskIds(subtopology_id=told.subtopology_id, partitions=list(told.partitions))


def send(world: GroupWorld, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
    caller = Caller(0, "client", "/host")
    decision = world.shard.streams.decide_heartbeat(request, caller, world.now_ms)
    world.take(decision)
    assert not isinstance(decision.reply, Parked)
    return decision.reply.response


def check(world: GroupWorld) -> None:
    group = world.shard.streams_groups.find(GROUP)
    if group is None:
        return
    owners: dict[tuple[str, int], str] = {}
    open_in: dict[tuple[tuple[str, int], str], str] = {}
    for member in group.members.values():
        for task in _active(member):
            assert owners.setdefault(task, member.member_id) == member.member_id
        for task in _all(member):
            place = (task, member.process_id)
            assert open_in.setdefault(place, member.member_id) == member.member_id
    assert group.active_owners == owners


def _active(member: StreamsMember) -> set[tuple[str, int]]:
    return {*each(member.owned.active), *each(member.revoking.active)}


def _all(member: StreamsMember) -> set[tuple[str, int]]:
    copies = (*each(member.owned.standby), *each(member.revoking.standby))
    return {*_active(member), *copies}


@pytest.mark.parametrize("seed", range(40))
def test_no_task_is_twice_at_work(seed: int) -> None:
    chance = random.Random(seed)
    config = GroupConfig(
        group_streams_num_standby_replicas=1,
        group_streams_initial_rebalance_delay_ms=chance.choice((0, 3_000)),
        group_streams_assignment_interval_ms=chance.choice((0, 1_000)),
    )
    world = GroupWorld(config)
    world.topics.topics.update({name: Topic(name.encode() * 16, 4) for name in "trc"})
    members: list[Member] = []
    for turn in range(150):
        _act(world, members, turn, chance)
        check(world)
        world.now_ms += chance.randint(0, 800)
        while world.ring(world.now_ms) is not None:
            check(world)
    _settle(world, members)


def _act(world: GroupWorld, members: list[Member], turn: int, chance: random.Random) -> None:
    what = chance.random()
    if not members or (what < 0.08 and len(members) < 5):
        members.append(Member(f"m{turn}", f"p{chance.randint(0, 2)}"))
    elif what < 0.11:
        gone = members.pop(chance.randrange(len(members)))
        send(
            world,
            StreamsGroupHeartbeatRequest(group_id=GROUP, member_id=gone.name, member_epoch=-1),
        )
    elif what < 0.13:
        members.pop(chance.randrange(len(members)))
    elif what < 0.16:
        world.start()
    else:
        chance.choice(members).beat(world, heard=chance.random() < 0.9)


def _settle(world: GroupWorld, members: list[Member]) -> None:
    """Whoever is left shares all tasks in the end."""
    for _ in range(80):
        for member in members:
            member.beat(world)
        world.now_ms += 1_100
        while world.ring(world.now_ms) is not None:
            check(world)
    group = world.shard.streams_groups.find(GROUP)
    if not members or group is None:
        return
    assert group.state.value == "Stable"
    assert {member.member_id for member in group.members.values()} == {one.name for one in members}
    assert len(group.active_owners) == 8
