"""Members of share groups: what they are given, and what the log keeps of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from penstock.group import (
    Beat,
    Caller,
    FixedTopics,
    GroupConfig,
    GroupShard,
    Topic,
    decode_record,
    encode_record,
)
from penstock.group.record import GroupRecord
from penstock.group.share.assignor import assign_simple
from penstock.group.share.record import SharedTopic
from penstock.group.share.state_topic import all_places
from penstock.group.timer import SessionTimer
from penstock.machine import Decision, TimerSet
from penstock.model.error import ErrorCode
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

ONE, TWO = b"\1" * 16, b"\2" * 16
CALLER = Caller(1, "client", "/127.0.0.1")


class World:
    def __init__(self, **config: int) -> None:
        self.topics = FixedTopics({"one": Topic(ONE, 2), "two": Topic(TWO, 1)})
        self.config = GroupConfig(**config)
        self.shard = self.new_shard()
        self.log: list[GroupRecord] = []
        self.sessions: dict[str, int] = {}
        self.now = 1_000

    def new_shard(self) -> GroupShard:
        return GroupShard(self.config, lambda: "id", self.topics)

    def take(self, decision: Decision[Any, Any]) -> Any:
        for record in decision.records:
            self.log.append(record)
            self.shard.replay(record, len(self.log) - 1)
        if decision.adopt is not None:
            decision.adopt()
        for change in decision.timers:
            if isinstance(change, TimerSet) and isinstance(change.key, SessionTimer):
                self.sessions[change.key.member_id] = change.deadline_ms
        return decision.reply

    def beat(self, member: str, epoch: int, topics: list[str] | None = None) -> Any:
        self.now += 2_000
        request = ShareGroupHeartbeatRequest(
            group_id="g", member_id=member, member_epoch=epoch, subscribed_topic_names=topics
        )
        found: Beat = self.take(self.shard.share.decide_heartbeat(request, CALLER, self.now))
        if found.initializing:
            self.take(self.shard.share.decide_initialized("g", found.initializing, self.now))
        return found.response

    def settle(self, *members: str) -> dict[str, dict[bytes, list[int]]]:
        """Until all are in the same epoch."""
        for _ in range(3):
            for member in members:
                self.beat(member, self.group.members[member].epoch)
        return {
            member: {
                one: sorted(found) for one, found in self.group.members[member].assigned.items()
            }
            for member in members
        }

    @property
    def group(self) -> Any:
        return self.shard.shares.find("g")

    def loaded(self) -> GroupShard:
        shard = self.new_shard()
        for offset, record in enumerate(self.log):
            read = decode_record(*encode_record(record))
            assert read is not None
            shard.replay(read, offset)
        return shard


def test_nobody_reads_what_has_no_state_yet() -> None:
    world = World()
    first = world.beat("a", 0, ["one"])
    assert (first.error_code, first.member_epoch, first.assignment.topic_partitions) == (0, 1, [])
    assert first.heartbeat_interval_ms < world.config.group_share_heartbeat_interval_ms
    second = world.beat("a", 1)
    assert [(one.topic_id, one.partitions) for one in second.assignment.topic_partitions] == [
        (ONE, [0, 1])
    ]
    assert second.heartbeat_interval_ms == world.config.group_share_heartbeat_interval_ms
    assert world.beat("a", second.member_epoch).assignment is None


def test_members_share_and_inherit() -> None:
    world = World()
    world.beat("a", 0, ["one"])
    world.beat("b", 0, ["one"])
    assert sorted(map(str, world.settle("a", "b").values())) == sorted(
        map(str, ({ONE: [0]}, {ONE: [1]}))
    )
    world.beat("b", -1)
    assert world.settle("a") == {"a": {ONE: [0, 1]}}
    assert list(world.group.members) == ["a"]


def test_a_topic_grows_and_another_is_asked_for() -> None:
    world = World()
    world.beat("a", 0, ["one", "later"])
    world.settle("a")
    world.topics.topics["one"] = Topic(ONE, 3)
    world.topics.topics["later"] = Topic(b"\3" * 16, 1)
    world.take(world.shard.share.decide_topics_changed({"one", "later"}))
    assert world.settle("a") == {"a": {ONE: [0, 1, 2], b"\3" * 16: [0]}}
    world.beat("a", world.group.members["a"].epoch, ["two"])
    assert world.settle("a") == {"a": {TWO: [0]}}


def test_a_session_runs_out() -> None:
    world = World()
    world.beat("a", 0, ["one"])
    assert world.sessions["a"] == world.now + world.config.group_share_session_timeout_ms
    world.take(world.shard.expire(SessionTimer("g", "a"), world.sessions["a"]))
    assert world.group.is_empty and world.group.state.value == "Empty"
    assert world.beat("a", 2).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_refusals() -> None:
    world = World(group_share_max_size=1)
    assert world.beat("a", 4).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    world.beat("a", 0, ["one"])
    assert world.beat("b", 0, ["one"]).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert world.beat("a", 99).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert world.beat("a", -5).error_code == ErrorCode.INVALID_REQUEST
    join = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    answer = world.take(world.shard.classic.decide_join(join, CALLER, world.now))
    assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    topic = OffsetCommitRequestTopic(
        name="one", partitions=[OffsetCommitRequestPartition(partition_index=0)]
    )
    commit = OffsetCommitRequest(group_id="g", topics=[topic])
    answer = world.take(world.shard.offsets.decide_commit(commit, CALLER, world.now))
    assert answer.topics[0].partitions[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_load_finds_all_of_it() -> None:
    world = World()
    for member in ("a", "b", "c"):
        world.beat(member, 0, ["one", "two"])
    world.settle("a", "b", "c")
    world.beat("c", -1)
    loaded = world.loaded().shares.find("g")
    assert loaded is not None
    for name in ("epoch", "assignment_epoch", "members", "targets", "state_topics"):
        assert getattr(loaded, name) == getattr(world.group, name), name
    listed = world.loaded().admin.decide_list(ListGroupsRequest(types_filter=["share"])).reply
    assert [one.group_id for one in listed] == ["g"]  # type: ignore[union-attr]


def test_a_group_goes_with_all_of_its_records() -> None:
    world = World()
    world.beat("a", 0, ["one"])
    world.settle("a")
    refused = world.take(world.shard.share.decide_deleting("g", None))
    assert refused.error is ErrorCode.NON_EMPTY_GROUP
    world.beat("a", -1)
    world.take(world.shard.share.decide_deleting("g", None))
    assert list(world.group.state_topics.deleting) == [ONE]
    world.take(world.shard.share.decide_deleted("g", [ONE]))
    (result,) = world.take(world.shard.admin.decide_delete(["g"]))
    assert (result.error_code, world.group, len(world.loaded().shares)) == (0, None, 0)


def test_a_deletion_that_failed_is_begun_again() -> None:
    world = World()
    world.beat("a", 0, ["one", "two"])
    world.settle("a")
    world.beat("a", -1)
    decide = world.shard.share.decide_deleting
    first = world.take(decide("g", [ONE, TWO]))
    assert all_places(first.topics) == [(ONE, 0), (ONE, 1), (TWO, 0)]
    # Nobody was told that it had succeeded.
    for asked in ([ONE], None):
        again = world.take(decide("g", asked))
        assert all_places(again.topics) == all_places(first.topics)
    world.topics.topics["one"] = Topic(b"\3" * 16, 1)  # made anew since
    assert all_places(world.take(decide("g", None)).topics) == [(TWO, 0)]
    assert world.group.state_topics.deleting == {ONE: "one", TWO: "two"}


def test_offsets_are_set_for_a_group_that_is_not_there_yet() -> None:
    world = World()
    topics = {ONE: SharedTopic("one", frozenset({0}))}
    answer = world.take(world.shard.share.decide_altering("g", topics, world.now))
    assert (answer.error, answer.epoch) == (ErrorCode.NONE, 1)
    assert "g" in world.loaded().shares


members = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.frozensets(st.sampled_from((ONE, TWO)), min_size=1),
    min_size=1,
)
counts = st.fixed_dictionaries(
    {ONE: st.sets(st.integers(0, 9), min_size=1), TWO: st.sets(st.integers(0, 9), min_size=1)}
)


@given(st.lists(members, min_size=1, max_size=4), counts)
def test_every_partition_has_a_reader_and_every_member_something_to_read(
    rounds: list[dict[str, frozenset[bytes]]], partitions: dict[bytes, set[int]]
) -> None:
    before: Any = {}
    for asked in rounds:
        found = assign_simple(asked, partitions, before)
        read = {(topic, one) for has in found.values() for topic in has for one in has[topic]}
        wanted = {topic for topics in asked.values() for topic in topics}
        assert read == {(topic, one) for topic in wanted for one in partitions[topic]}
        for member, topics in asked.items():
            assert found[member] and set(found[member]) <= topics
        assert assign_simple(asked, partitions, found) == found
        before = found
