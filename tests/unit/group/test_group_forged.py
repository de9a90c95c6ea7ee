"""Any record that decodes may stand in the log, whoever wrote it: the shard bears it.

What it makes of nonsense does not matter, as long as it goes on: a load that fails, or a timer that
does, would take every group of the partition with it.
"""

from __future__ import annotations

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
from penstock.machine import Timers
from penstock.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.offset_fetch import OffsetFetchRequestGroup
from penstock.protocol.record_frame import encode_coordinator_key
from penstock.protocol.record_table import GROUP_KEYS, GROUP_VALUES
from tests.wire.wire_strategy import entities

GROUPS = ("", "g", "h")
MEMBERS = ("", "m", "n")
KINDS = [
    (key, value)
    for key, value in zip(GROUP_KEYS, GROUP_VALUES, strict=True)
    if key.number in (1, 2, 3, 5, 6, 7, 8, 16)
]
NOW_MS = 1_700_000_000_000
HORIZON_MS = 60 * 24 * 3_600_000


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
        encode_coordinator_key(record.key)
        raw.append(RawRecord(offset, *encode_record(record)))
    passed: list[object] = []
    for offset, entry in last_of_each_key(raw, lambda *one: passed.append(one)):
        try:
            shard.replay(entry, offset)
        except Exception as error:
            # As the runtime does at a load.
            passed.append(error)
    world = World(shard)
    world.take(shard.decide_loaded(NOW_MS))
    world.ask_everything()
    world.ring_everything()
    world.ask_everything()


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
            self.take(shard.offsets.decide_fetch(OffsetFetchRequestGroup(group_id=group), True))
            join = JoinGroupRequest(
                group_id=group,
                session_timeout_ms=10_000,
                rebalance_timeout_ms=10_000,
                member_id="m",
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0" * 10)],
            )
            self.take(shard.classic.decide_join(join, caller, self.now_ms))
            beat = ConsumerGroupHeartbeatRequest(
                group_id=group,
                member_id="n",
                member_epoch=0,
                rebalance_timeout_ms=10_000,
                subscribed_topic_names=["t"],
                topic_partitions=[],
            )
            self.take(shard.consumer.decide_heartbeat(beat, caller, self.now_ms))

    def ring_everything(self) -> None:
        for _ in range(200):
            deadline = self.timers.next_deadline_ms()
            if deadline is None or deadline > NOW_MS + HORIZON_MS:
                return
            self.now_ms = max(self.now_ms, deadline)
            key = self.timers.pop_next(self.now_ms)
            self.take(self.shard.expire(key, self.now_ms))
