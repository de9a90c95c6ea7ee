"""What is kept of share partitions, step by step, and after a load."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.machine import Decision
from penstock.model.error import ErrorCode
from penstock.share import (
    ShareKey,
    ShareRecord,
    ShareShard,
    StateBatch,
    decode_record,
    encode_record,
)
from penstock.share.batch import overlaid
from penstock.share.key import key_of_name
from penstock.share.shard import ColdTimer, Result, Write

KEY = ShareKey("g", b"\1" * 16, 0)
OTHER = ShareKey("g:with:colons", b"\2" * 16, 3)
COLD_MS = 1_000
ACKED = 2


class World:
    """A shard over a log that can be read again."""

    def __init__(self, updates_per_snapshot: int = 3) -> None:
        self.shard = ShareShard(updates_per_snapshot, COLD_MS)
        self.log: list[tuple[bytes, bytes | None]] = []

    def take(self, decision: Decision[ShareRecord, Result]) -> Result:
        for record in decision.records:
            self.log.append(encode_record(record))
            self.shard.replay(record, len(self.log) - 1)
        assert isinstance(decision.reply, Result)
        return decision.reply

    def loaded(self, start: int = 0) -> ShareShard:
        shard = ShareShard(3, COLD_MS)
        for offset, pair in enumerate(self.log):
            record = decode_record(*pair)
            if offset >= start and record is not None:
                shard.replay(record, offset)
        return shard

    def initialize(self, key: ShareKey = KEY, epoch: int = 1, start: int = -1) -> ErrorCode:
        return self.take(self.shard.decide_initialize(key, epoch, start, 5)).error

    def write(
        self, *batches: StateBatch, start: int = 0, epoch: int = 1, leader: int = 4
    ) -> ErrorCode:
        write = Write(epoch, leader, start, 0, batches)
        return self.take(self.shard.decide_write(KEY, write, 5)).error


def test_nothing_is_written_or_read_before_a_beginning() -> None:
    world = World()
    assert world.write() is ErrorCode.INVALID_REQUEST
    assert world.take(world.shard.decide_read(KEY, 0)).error is ErrorCode.INVALID_REQUEST
    summary = world.take(world.shard.decide_summary(KEY))
    assert (summary.error, summary.state.start_offset) == (ErrorCode.NONE, -1)


def test_writes_lie_over_each_other() -> None:
    world = World(updates_per_snapshot=100)
    world.initialize()
    world.write(StateBatch(0, 9, 0, 1))
    world.write(StateBatch(3, 5, ACKED, 2))
    state = world.shard.find(KEY)
    assert state is not None
    assert state.batches == (
        StateBatch(0, 2, 0, 1),
        StateBatch(3, 5, ACKED, 2),
        StateBatch(6, 9, 0, 1),
    )
    world.write(start=4)
    state = world.shard.find(KEY)
    assert state is not None and state.batches[0] == StateBatch(4, 5, ACKED, 2)
    assert world.loaded().find(KEY) == state


def test_every_so_many_updates_there_is_a_snapshot() -> None:
    world = World(updates_per_snapshot=3)
    world.initialize()
    for n in range(7):
        world.write(StateBatch(n, n, ACKED, 1), start=n)
    state = world.shard.find(KEY)
    assert state is not None and state.snapshot_epoch == 2
    cut = world.shard.redundant_before
    assert cut == 6
    assert world.loaded(cut).find(KEY) == state


def test_who_led_before_may_not_write() -> None:
    world = World()
    world.initialize()
    assert world.take(world.shard.decide_read(KEY, 7)).error is ErrorCode.NONE
    assert world.write(leader=6) is ErrorCode.FENCED_LEADER_EPOCH
    assert world.take(world.shard.decide_read(KEY, 6)).error is ErrorCode.FENCED_LEADER_EPOCH
    assert world.write(leader=7) is ErrorCode.NONE
    assert world.loaded().find(KEY) == world.shard.find(KEY)


def test_what_began_anew_is_written_in_its_epoch_only() -> None:
    world = World()
    world.initialize(epoch=1)
    world.write(StateBatch(0, 5, ACKED, 1))
    assert world.initialize(epoch=4, start=2) is ErrorCode.NONE
    assert world.write(epoch=1) is ErrorCode.FENCED_STATE_EPOCH
    assert world.initialize(epoch=3, start=0) is ErrorCode.FENCED_STATE_EPOCH
    state = world.shard.find(KEY)
    assert state is not None and (state.start_offset, state.batches) == (2, ())


def test_a_beginning_asked_for_twice_undoes_nothing() -> None:
    world = World()
    world.initialize(epoch=1)
    world.write(StateBatch(0, 5, ACKED, 1), start=6)
    before = world.shard.find(KEY)
    assert world.initialize(epoch=2) is ErrorCode.NONE
    assert world.shard.find(KEY) == before


def test_what_is_deleted_is_gone() -> None:
    world = World()
    world.initialize()
    world.initialize(OTHER)
    assert world.take(world.shard.decide_delete(KEY)).error is ErrorCode.NONE
    assert world.take(world.shard.decide_delete(KEY)).error is ErrorCode.NONE
    assert (world.loaded().find(KEY), len(world.loaded())) == (None, 1)
    for record in world.shard.decide_topics_deleted({OTHER.topic_id}).records:
        world.log.append(encode_record(record))
    assert len(world.loaded()) == 0


def test_what_rests_does_not_hold_up_the_cutting_of_the_log() -> None:
    world = World(updates_per_snapshot=500)
    world.initialize(OTHER)
    world.initialize()
    for n in range(2_500):
        world.write(StateBatch(n, n, ACKED, 1), start=n)
    assert world.shard.redundant_before == 0
    decision = world.shard.expire(ColdTimer(), 9)
    assert [record.share_key for record in decision.records] == [OTHER]
    for record in decision.records:
        world.log.append(encode_record(record))
        world.shard.replay(record, len(world.log) - 1)
    assert world.shard.redundant_before > 2_000
    assert not world.shard.expire(ColdTimer(), 10).records


def test_names() -> None:
    assert key_of_name(OTHER.name) == OTHER
    for wrong in ("", "g", "g:t:0", f"{KEY.group_id}:{'A' * 22}:x", ":AAAAAAAAAAAAAAAAAAAAAA:0"):
        assert key_of_name(wrong) is None


stretches = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6), st.sampled_from((0, 2, 4))))


def apart(found: list[tuple[int, int, int]]) -> list[StateBatch]:
    batches: list[StateBatch] = []
    for first, size, state in sorted(found):
        if not batches or first > batches[-1].last:
            batches.append(StateBatch(first, first + size - 1, state, 1))
    return batches


@given(stretches, stretches, st.integers(0, 20))
def test_the_newer_counts(
    older: list[tuple[int, int, int]], newer: list[tuple[int, int, int]], start: int
) -> None:
    expected: dict[int, int] = {}
    for batch in (*apart(older), *apart(newer)):
        expected |= {n: batch.state for n in range(batch.first, batch.last + 1) if n >= start}
    found: dict[int, int] = {}
    for batch in overlaid(apart(older), apart(newer), start):
        for offset in range(batch.first, batch.last + 1):
            assert offset not in found
            found[offset] = batch.state
    assert found == expected
