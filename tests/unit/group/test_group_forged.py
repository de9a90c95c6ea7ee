"""Any record that decodes may stand in the log, whoever wrote it: other groups do not suffer.

What becomes of the group that was forged does not matter: its own requests and timers may fail, and
the runtime lets them fail by themselves. The load must not, nor what looks at all groups.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.group import (
    Caller,
    GroupConfig,
    GroupRecord,
    GroupShard,
    RawRecord,
    encode_record,
    last_of_each_key,
)
from penstock.group.record import offset_commit_record
from penstock.machine import Timers
from penstock.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.offset_fetch import OffsetFetchRequestGroup
from penstock.protocol.messages.records.offset_commit import OffsetCommitValue
from penstock.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from penstock.protocol.record_table import GROUP_KEYS, GROUP_VALUES
from tests.transcripts.streams_script import WORD_COUNT, topology_of
from tests.wire.wire_strategy import entities

GROUPS = ("", "g", "h")
MEMBERS = ("", "m", "n")
KINDS = [
    (key, value)
    for key, value in zip(GROUP_KEYS, GROUP_VALUES, strict=True)
    if key.number in (1, 2, 3, 5, 6, 7, 8, 16, 17, 19, 20, 21, 22, 23)
]
NOW_MS = 1_700_000_000_000
HORIZON_MS = 24 * 3_600_000


@st.composite
def forged(draw: st.DrawFn) -> GroupRecord:
    key_type, value_type = draw(st.sampled_from(KINDS))
    key: Any = draw(entities(key_type.entity(), key_type.max_version))
    for name in ("group", "group_id"):
        if hasattr(key, name):
            setattr(key, name, draw(st.sampled_from(GROUPS)))
    if hasattr(key, "member_id"):
        key.member_id = draw(st.sampled_from(MEMBERS))
    version = draw(st.integers(value_type.min_version, value_type.max_version))
    value = draw(st.none() | entities(value_type.entity(), version))
    return GroupRecord(key, value, version)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(forged(), max_size=12))
def test_a_shard_bears_any_log(records: list[GroupRecord]) -> None:
    shard = GroupShard(GroupConfig(), lambda: "uuid")
    raw = []
    for offset, record in enumerate(records):
        raw.append(RawRecord(offset, *encode_record(record)))
    healthy = offset_commit_record(
        "healthy", "t", 0, OffsetCommitValue(offset=7, commit_timestamp=NOW_MS)
    )
    raw.append(RawRecord(len(raw), *encode_record(healthy)))
    for offset, entry in last_of_each_key(raw, lambda *one: None):
        with suppress(Exception):  # as the runtime does at a load
            shard.replay(entry, offset)
    world = World(shard)
    world.take(shard.decide_loaded(NOW_MS))
    world.ask_everything()
    world.ring_everything()
    world.ask_everything()
    request = OffsetFetchRequestGroup(group_id="healthy", topics=None)
    fetched = shard.offsets.decide_fetch(request, True).reply
    assert [one.committed_offset for topic in fetched.topics for one in topic.partitions] == [7]


class World:
    def __init__(self, shard: GroupShard) -> None:
        self.shard = shard
        self.timers = Timers()
        self.offset = 1000
        self.now_ms = NOW_MS

    def take(self, decision: Any) -> None:
        for record in decision.records:
            self.offset += 1
            self.shard.replay(record, self.offset)
        if decision.adopt is not None:
            decision.adopt()
        self.timers.apply(decision.timers)

    def ask_everything(self) -> None:
        shard, caller = self.shard, Caller(5, "client", "/127.0.0.1")
        self.take(shard.admin.decide_list(ListGroupsRequest()))
        for group in GROUPS[1:]:
            join = JoinGroupRequest(
                group_id=group,
                session_timeout_ms=10_000,
                rebalance_timeout_ms=10_000,
                member_id="m",
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0" * 10)],
            )
            self.attempt(lambda join=join: shard.classic.decide_join(join, caller, self.now_ms))
            beat = ConsumerGroupHeartbeatRequest(
                group_id=group,
                member_id="n",
                member_epoch=0,
                rebalance_timeout_ms=10_000,
                subscribed_topic_names=["t"],
                topic_partitions=[],
            )
            self.attempt(
                lambda beat=beat: shard.consumer.decide_heartbeat(beat, caller, self.now_ms)
            )
            for epoch in (0, 1):
                told = StreamsGroupHeartbeatRequest(
                    group_id=group,
                    member_id="n",
                    member_epoch=epoch,
                    rebalance_timeout_ms=10_000,
                    topology=None if epoch else topology_of(WORD_COUNT),
                    active_tasks=[],
                    standby_tasks=[],
                    warmup_tasks=[],
                )
                self.attempt(
                    lambda told=told: shard.streams.decide_heartbeat(told, caller, self.now_ms)
                )
            self.attempt(lambda group=group: shard.streams.decide_describe([group], self.now_ms))

    def attempt(self, decide: Callable[[], Any]) -> None:
        """What fails has decided nothing."""
        try:
            decision = decide()
        except Exception:
            return
        self.take(decision)

    def ring_everything(self) -> None:
        for _ in range(200):
            deadline = self.timers.next_deadline_ms()
            if deadline is None or deadline > NOW_MS + HORIZON_MS:
                return
            self.now_ms = max(self.now_ms, deadline)
            key = self.timers.pop_next(self.now_ms)
            self.attempt(lambda key=key: self.shard.expire(key, self.now_ms))
