"""Random joins, heartbeats, leaves, lost answers, failed writes, restarts: what must hold whatever
happens to a consumer group."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import combinations, count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.group import (
    GroupConfig,
    GroupShard,
    RawRecord,
    Topic,
    encode_record,
    last_of_each_key,
)
from penstock.group.consumer.group import ConsumerGroup, ConsumerGroupState
from penstock.group.record import GroupRecord
from penstock.group.timer import RetentionTimer, SessionTimer
from tests.transcripts.group_world import GroupWorld
from tests.unit.group.consumer_client import ConsumerClient

CONFIG = GroupConfig(
    group_consumer_session_timeout_ms=45_000,
    group_consumer_max_size=5,
    group_consumer_assignment_interval_ms=1_000,
)
SUBSCRIPTIONS = (["t"], ["t"], ["t", "u"], ["u"], [])
REGEXES = (None, None, None, "u|v.*")
INSTANCES = (None, None, None, "i1", "i2")
ASSIGNORS = (None, None, "uniform", "range")


@dataclass(frozen=True)
class Op:
    name: str
    client: int
    choice: int


ops = st.builds(
    Op,
    name=st.sampled_from(
        ["join"] * 3
        + ["heartbeat", "reconcile", "both"] * 4
        + ["lost", "unwritten", "crash", "leave", "rest", "advance", "advance", "subscribe"]
        + ["restart", "grow", "create", "delete"]
    ),
    client=st.integers(0, 5),
    choice=st.integers(0, 19),
)


class Play:
    def __init__(self) -> None:
        self.world = GroupWorld(CONFIG)
        self.clients: list[ConsumerClient] = []
        self._ids = count(1)
        self._topic_ids = count(1)
        for name, partitions in (("t", 5), ("u", 3)):
            self._create(name, partitions)

    def _create(self, name: str, partitions: int) -> None:
        topic_id = next(self._topic_ids).to_bytes(16, "big")
        self.world.topics.topics[name] = Topic(topic_id, partitions)
        self._tell(name)

    def _tell(self, name: str) -> None:
        self.world.topics.version += 1
        self.world.take(self.world.shard.consumer.decide_topics_changed({name}))

    # --- what may happen ---

    def do(self, op: Op) -> None:
        if op.name in ("join", "restart", "advance", "grow", "create", "delete"):
            getattr(self, op.name)(op.choice)
        elif self.clients:
            getattr(self, op.name)(self.clients[op.client % len(self.clients)], op.choice)
        self.check()

    def join(self, choice: int) -> None:
        if len(self.clients) < 6:
            client = ConsumerClient(
                f"m{next(self._ids)}",
                SUBSCRIPTIONS[choice % 5],
                regex=REGEXES[choice % 4],
                instance=INSTANCES[choice % 5],
                assignor=ASSIGNORS[choice % 4],
                rebalance_timeout_ms=20_000,
            )
            self.clients.append(client)
            client.heartbeat(self.world)

    def heartbeat(self, client: ConsumerClient, _: int) -> None:
        client.heartbeat(self.world)

    def reconcile(self, client: ConsumerClient, _: int) -> None:
        client.reconcile()

    def both(self, client: ConsumerClient, _: int) -> None:
        client.heartbeat(self.world)
        client.reconcile()
        client.heartbeat(self.world)

    def lost(self, client: ConsumerClient, _: int) -> None:
        """The answer never arrives; the client asks again with everything it knows."""
        self.world.take(client.ask(self.world))
        client.must_send_all = True

    def unwritten(self, client: ConsumerClient, _: int) -> None:
        """A full disk: the decision is dropped, and nothing may have changed by it."""
        before = _state(self.world.shard)
        client.ask(self.world)
        client.must_send_all = True
        assert _state(self.world.shard) == before

    def crash(self, client: ConsumerClient, _: int) -> None:
        self.clients.remove(client)

    def leave(self, client: ConsumerClient, _: int) -> None:
        self.clients.remove(client)
        client.leave(self.world)

    def rest(self, client: ConsumerClient, _: int) -> None:
        """A static member stops to come back under another id."""
        if client.instance is not None and client.epoch > 0:
            client.leave(self.world, -2)
            client.member_id = f"m{next(self._ids)}"

    def subscribe(self, client: ConsumerClient, choice: int) -> None:
        client.topics = SUBSCRIPTIONS[choice % 5]
        client.regex = REGEXES[choice % 4] or ("" if client.regex else None)
        client.must_send_all = True

    def restart(self, _: int) -> None:
        self.world.start()

    def advance(self, choice: int) -> None:
        until_ms = self.world.now_ms + (300, 1_500, 5_000, 21_000)[choice % 4]
        while self.world.ring(until_ms) is not None:
            self._forget_expelled()
        for client in self.clients:
            # A client that was not answered for a whole session stops reading by itself.
            if self.world.now_ms - client.last_heard_ms >= 45_000:
                client.rejoin()
        self._forget_expelled()

    def _forget_expelled(self) -> None:
        """Who held others up for its whole rebalance timeout is taken to have stopped."""
        group = self.group
        for client in self.clients:
            if group is None or client.member_id not in group.members:
                client.rejoin()

    def grow(self, choice: int) -> None:
        name = ("t", "u")[choice % 2]
        topic = self.world.topics.get(name)
        if topic is not None and topic.partition_count < 12:
            grown = Topic(topic.topic_id, topic.partition_count + 1 + choice % 3)
            self.world.topics.topics[name] = grown
            self._tell(name)

    def create(self, choice: int) -> None:
        name = ("u", "v1", "v2")[choice % 3]
        if self.world.topics.get(name) is None:
            self._create(name, 1 + choice % 4)

    def delete(self, choice: int) -> None:
        name = ("u", "v1", "v2")[choice % 3]
        if self.world.topics.topics.pop(name, None) is not None:
            self._tell(name)

    # --- what must hold ---

    @property
    def group(self) -> ConsumerGroup | None:
        return self.world.shard.consumers.find("g")

    def check(self) -> None:
        for one, other in combinations(self.clients, 2):
            assert not one.owned & other.owned, (one, other)
        if self.group is not None:
            self._check_owners(self.group)
            self._check_timers(self.group)

    def _check_owners(self, group: ConsumerGroup) -> None:
        held = [
            (topic_id, partition)
            for member in group.members.values()
            for owned in (member.owned, member.revoking)
            for topic_id, found in owned.items()
            for partition in found
        ]
        assert len(held) == len(set(held)) == len(group.owners)
        assert group.targets.keys() <= group.members.keys()
        assert group.matched.keys() <= group.regexes
        assert set(group.static_ids.values()) <= group.members.keys()

    def _check_timers(self, group: ConsumerGroup) -> None:
        """Every member has a session that ends; nobody else has one."""
        keys = [key for key in self.world.timers._entries if not isinstance(key, RetentionTimer)]
        sessions = {key.member_id for key in keys if isinstance(key, SessionTimer)}
        assert sessions == group.members.keys()
        assert all(key.member_id in group.members for key in keys)  # type: ignore[attr-defined]

    def settle(self) -> None:
        """Left alone, all get there."""
        for turn in range(36):
            self.advance(1)
            for place, client in enumerate(list(self.clients)):
                client.heartbeat(self.world)
                if (turn + place) % 3:  # some are slow to give up what they have
                    client.reconcile()
                self.check()
            self.advance(2)
        for client in self.clients:
            client.reconcile()
        self._check_settled()

    def _check_settled(self) -> None:
        group = self.group
        members = [one for one in self.clients if one.epoch > 0]
        if group is None or not members:
            return
        assert group.state is ConsumerGroupState.STABLE
        found: dict[Any, str] = {}
        for client in members:
            assert client.owned == client.assigned
            found.update(dict.fromkeys(client.owned, client.member_id))
        assert found == group.owners
        wanted = {
            (topic.topic_id, partition)
            for name in group.subscribed
            if (topic := self.world.topics.get(name)) is not None
            for partition in range(topic.partition_count)
        }
        assert found.keys() == wanted


def _state(shard: GroupShard) -> object:
    """All that the log keeps; dicts are equal in any order."""
    kept = ("epoch", "metadata_hash", "assignment_epoch", "assignment_timestamp_ms")
    kept += ("members", "static_ids", "targets", "owners", "matched")
    return {
        group.group_id: {name: copy(getattr(group, name)) for name in kept}
        for group in shard.consumers
    }


def _replayed(records: list[tuple[int, Any]]) -> object:
    shard = GroupShard(CONFIG, lambda: "unused")
    for offset, record in records:
        shard.replay(record, offset)
    return _state(shard)


@settings(max_examples=150, deadline=None)
@given(st.lists(ops, min_size=8, max_size=60))
def test_no_partition_has_two_readers_and_all_are_read_in_the_end(steps: list[Op]) -> None:
    play = Play()
    for op in steps:
        play.do(op)
    play.settle()
    log = list(enumerate(play.world.log))
    live = _state(play.world.shard)
    assert _replayed(log) == live
    raw = []
    for offset, record in log:
        assert isinstance(record, GroupRecord)
        raw.append(RawRecord(offset, *encode_record(record)))
    assert _replayed(list(last_of_each_key(raw, lambda *_: None))) == live
