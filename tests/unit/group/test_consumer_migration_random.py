"""Groups of both protocols at once, at random: members of either kind come and go, static ones also
go on under the other protocol, and the group changes its kind under them. Nobody may read what
another one reads, and all get there in the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.group import Caller, GroupConfig, GroupShard, Topic
from penstock.group.timer import RetentionTimer, SessionTimer
from penstock.machine import Parked
from penstock.model.error import ErrorCode
from penstock.protocol.codec import decode, encode
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from penstock.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.protocol.messages.records.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from penstock.protocol.messages.records.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from penstock.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from tests.transcripts.group_world import GroupWorld
from tests.unit.group.consumer_client import ConsumerClient, Partition

CONFIG = GroupConfig(
    group_initial_rebalance_delay_ms=100, group_consumer_assignment_interval_ms=500
)
TOPIC = Topic(b"\1" * 16, 5)
SESSION_MS = 12_000


@dataclass
class ClassicClient:
    """An eager consumer: before it joins it gives up all it has."""

    instance: str | None = None
    member_id: str = ""
    generation: int = -1
    owned: set[Partition] = field(default_factory=set)
    joining: Any = None
    """The number of a parked JoinGroup, or of a parked SyncGroup in `syncing`."""
    syncing: Any = None
    must_join: bool = True
    last_heard_ms: int = 0

    def step(self, world: GroupWorld) -> None:
        """One request, or the answer to one that was parked."""
        if self.joining is not None:
            self._hear_join(world, world.answered.pop(self.joining, None))
        elif self.syncing is not None:
            self._hear_sync(world, world.answered.pop(self.syncing, None))
        elif self.must_join:
            self._join(world)
        else:
            self._heartbeat(world)

    def _join(self, world: GroupWorld) -> None:
        self.owned = set()
        metadata = b"\0\1" + encode(ConsumerProtocolSubscription(topics=["t"]), 1)
        request = JoinGroupRequest(
            group_id="g",
            member_id=self.member_id,
            group_instance_id=self.instance,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=10_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        )
        decision = world.shard.classic.decide_join(request, Caller(9, "k"), world.now_ms)
        world.take(decision)
        if isinstance(decision.reply, Parked):
            self.joining = decision.reply.key
            self._hear_join(world, world.answered.pop(self.joining, None))
        else:
            self._hear_join(world, decision.reply)

    def _hear_join(self, world: GroupWorld, reply: Any) -> None:
        if reply is None:
            return
        assert isinstance(reply, JoinGroupResponse)
        self.joining, self.last_heard_ms = None, world.now_ms
        error = ErrorCode(reply.error_code)
        if error is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = reply.member_id
        elif error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.member_id = ""
        elif error is ErrorCode.NONE:
            self.member_id, self.generation = reply.member_id, reply.generation_id
            self._sync(world, reply)
        else:
            assert error is ErrorCode.REBALANCE_IN_PROGRESS, error

    def _sync(self, world: GroupWorld, joined: JoinGroupResponse) -> None:
        request = SyncGroupRequest(
            group_id="g",
            member_id=self.member_id,
            group_instance_id=self.instance,
            generation_id=self.generation,
            protocol_type="consumer",
            protocol_name="range",
            assignments=_assigned([one.member_id for one in joined.members]),
        )
        decision = world.shard.classic.decide_sync(request, Caller(5), world.now_ms)
        world.take(decision)
        if isinstance(decision.reply, Parked):
            self.syncing = decision.reply.key
            self._hear_sync(world, world.answered.pop(self.syncing, None))
        else:
            self._hear_sync(world, decision.reply)

    def _hear_sync(self, world: GroupWorld, reply: Any) -> None:
        if reply is None:
            return
        assert isinstance(reply, SyncGroupResponse)
        self.syncing, self.last_heard_ms = None, world.now_ms
        error = ErrorCode(reply.error_code)
        if error is ErrorCode.NONE:
            self.must_join = False
            self.owned = _partitions(bytes(reply.assignment))
        elif error is ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""

    def _heartbeat(self, world: GroupWorld) -> None:
        request = HeartbeatRequest(
            group_id="g",
            member_id=self.member_id,
            group_instance_id=self.instance,
            generation_id=self.generation,
        )
        decision = world.shard.classic.decide_heartbeat(request, world.now_ms)
        world.take(decision)
        assert not isinstance(decision.reply, Parked)
        error = ErrorCode(decision.reply.error_code)
        if error is ErrorCode.NONE:
            self.last_heard_ms = world.now_ms
            return
        if error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.member_id = ""
        self.lose()

    def lose(self) -> None:
        self.must_join, self.owned = True, set()
        self.joining = self.syncing = None

    def leave(self, world: GroupWorld) -> None:
        """A static member keeps its place, and says nothing."""
        if not self.member_id or self.instance is not None:
            return
        request = LeaveGroupRequest(
            group_id="g", members=[MemberIdentity(member_id=self.member_id)]
        )
        world.take(world.shard.classic.decide_leave(request, Caller(5), world.now_ms))


def _assigned(member_ids: list[str]) -> list[SyncGroupRequestAssignment]:
    shares = {one: list(range(5))[place :: len(member_ids)] for place, one in enumerate(member_ids)}
    return [
        SyncGroupRequestAssignment(
            member_id=one,
            assignment=b"\0\1"
            + encode(
                ConsumerProtocolAssignment(
                    assigned_partitions=[TopicPartition(topic="t", partitions=share)]
                ),
                1,
            ),
        )
        for one, share in shares.items()
    ]


def _partitions(assignment: bytes) -> set[Partition]:
    if not assignment:
        return set()
    found, _ = decode(ConsumerProtocolAssignment, 1, assignment, 2)
    return {(TOPIC.topic_id, one) for part in found.assigned_partitions for one in part.partitions}


class Play:
    def __init__(self) -> None:
        self.world = GroupWorld(CONFIG)
        self.world.topics.topics["t"] = TOPIC
        self.clients: list[ConsumerClient | ClassicClient] = []
        self._ids = count(1)

    def do(self, name: str, which: int) -> None:
        if name == "new":
            self._add(self._new_client(self._free_instance(which)))
        elif name == "old":
            self._add(ClassicClient(self._free_instance(which)))
        elif name == "advance":
            self.advance((50, 600, 3_000, 7_000)[which % 4])
        elif name == "restart":
            self._restart()
        elif self.clients:
            client = self.clients[which % len(self.clients)]
            if name == "step":
                self.step(client)
            elif name != "turn" or client.instance is not None:
                self.clients.remove(client)
                if name != "crash":
                    self._leave(client)
                if name == "turn":
                    self._turn(client)
        self.check()

    def _new_client(self, instance: str | None) -> ConsumerClient:
        return ConsumerClient(
            f"n{next(self._ids)}", ["t"], instance=instance, rebalance_timeout_ms=10_000
        )

    def _free_instance(self, which: int) -> str | None:
        name = (None, None, "i1", "i2")[which % 4]
        return None if any(one.instance == name for one in self.clients) else name

    def _leave(self, client: ConsumerClient | ClassicClient) -> None:
        if isinstance(client, ClassicClient) or client.instance is None:
            client.leave(self.world)
        elif client.epoch > 0:
            client.leave(self.world, -2)

    def _turn(self, client: ConsumerClient | ClassicClient) -> None:
        """The same instance goes on under the other protocol."""
        is_old = isinstance(client, ClassicClient)
        self._add(self._new_client(client.instance) if is_old else ClassicClient(client.instance))

    def _add(self, client: ConsumerClient | ClassicClient) -> None:
        if len(self.clients) < 5:
            self.clients.append(client)
            self.step(client)

    def _restart(self) -> None:
        self.world.start()
        for client in self.clients:
            if isinstance(client, ClassicClient) and (client.joining or client.syncing):
                client.lose()

    def step(self, client: ConsumerClient | ClassicClient) -> None:
        if isinstance(client, ClassicClient):
            client.step(self.world)
        else:
            client.heartbeat(self.world)
            self.check()
            client.reconcile()

    def advance(self, step_ms: int) -> None:
        until_ms = self.world.now_ms + step_ms
        while self.world.ring(until_ms) is not None:
            self._stop_expelled()
        self._stop_expelled()

    def _stop_expelled(self) -> None:
        """Who was silent for too long is taken to have stopped reading; so it has."""
        members = self._member_ids()
        for client in self.clients:
            if client.member_id not in members and client.owned:
                client.rejoin() if isinstance(client, ConsumerClient) else client.lose()

    def _member_ids(self) -> set[str]:
        consumer = self.world.shard.consumers.find("g")
        classic = self.world.shard.classic_groups.find("g")
        return {*(consumer.members if consumer else ()), *(classic.members if classic else ())}

    def check(self) -> None:
        group = self.world.shard.consumers.find("g")
        assert group is None or self.world.shard.classic_groups.find("g") is None
        if group is None:
            return  # in a classic group the leader's assignment is what counts
        for one, other in combinations(self.clients, 2):
            assert not one.owned & other.owned, (one, other)
        keys = [key for key in self.world.timers._entries if not isinstance(key, RetentionTimer)]
        assert {k.member_id for k in keys if isinstance(k, SessionTimer)} == group.members.keys()

    def settle(self) -> None:
        for _ in range(90):  # longer than any session
            for client in list(self.clients):
                self.step(client)
                self.check()
            self.advance(700)
        self.advance(SESSION_MS // 2)
        for client in list(self.clients):
            self.step(client)
        found = [one for client in self.clients for one in client.owned]
        assert sorted(found) == [(TOPIC.topic_id, n) for n in range(5 if self.clients else 0)]
        kinds = {type(client) for client in self.clients}
        if kinds:
            is_consumer = self.world.shard.consumers.find("g") is not None
            assert is_consumer is (ConsumerClient in kinds)


def _log_state(shard: GroupShard) -> object:
    return (
        {
            one.group_id: (one.epoch, one.members, one.targets, one.owners)
            for one in shard.consumers
        },
        {key: repr(encode(value, 3)) for key, value in shard.classic_groups.stored().items()},
    )


names = st.sampled_from(
    [
        "new",
        "new",
        "old",
        "old",
        *["step"] * 8,
        *["advance"] * 4,
        "leave",
        "leave",
        "turn",
        "turn",
        "crash",
        "restart",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(names, st.integers(0, 7)), min_size=5, max_size=60))
def test_members_of_both_protocols_share_a_group(steps: list[tuple[str, int]]) -> None:
    play = Play()
    for name, which in steps:
        play.do(name, which)
    play.settle()
    again = GroupShard(CONFIG, lambda: "unused")
    for offset, record in enumerate(play.world.log):
        again.replay(record, offset)
    assert _log_state(again) == _log_state(play.world.shard)
