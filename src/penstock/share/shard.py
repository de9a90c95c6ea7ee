"""The states of share partitions that belong to one partition of `__share_group_state`.

Every so many updates it writes a snapshot; whatever stands in the log before the oldest snapshot
that counts is of no use any more (`redundant_before`). Partitions that hold this up, because
nothing happens to them, are written anew from time to time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from penstock.machine import Decision, TimerKey, TimerSet
from penstock.model.error import ErrorCode, InvariantError
from penstock.model.id import TopicId
from penstock.protocol.messages.records.share_snapshot import ShareSnapshotKey, ShareSnapshotValue
from penstock.protocol.messages.records.share_update import ShareUpdateValue
from penstock.share.batch import StateBatch
from penstock.share.kept import UNKNOWN_COUNT, UNKNOWN_OFFSET, KeptState
from penstock.share.key import ShareKey
from penstock.share.record import (
    ShareRecord,
    batches_of,
    kept_of,
    snapshot_record,
    tombstone,
    update_record,
)

SPAN_MIN = 1_000
"""Records that the log may hold beyond one for each share partition before any is written anew."""


class ColdTimer(NamedTuple):
    """Time to look for partitions whose snapshots are old."""

    kind: Literal["cold"] = "cold"


class Result(NamedTuple):
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    state: KeptState = KeptState()


class Write(NamedTuple):
    state_epoch: int
    leader_epoch: int
    start_offset: int
    done_count: int
    batches: Sequence[StateBatch]


class _Place:
    """Where a state stands in the log."""

    __slots__ = ("snapshot_offset", "state", "updates")

    def __init__(self, state: KeptState, snapshot_offset: int) -> None:
        self.state = state
        self.snapshot_offset = snapshot_offset
        self.updates = 0


ShareDecision = Decision[ShareRecord, Result]


class ShareShard:
    def __init__(self, updates_per_snapshot: int, cold_interval_ms: int) -> None:
        self._updates_per_snapshot = updates_per_snapshot
        self._cold_interval_ms = cold_interval_ms
        self._places: dict[ShareKey, _Place] = {}
        self.end_offset = 0

    def __len__(self) -> int:
        return len(self._places)

    def find(self, key: ShareKey) -> KeptState | None:
        place = self._places.get(key)
        return None if place is None else place.state

    # --- requests ---

    def decide_initialize(
        self, key: ShareKey, state_epoch: int, start_offset: int, now_ms: int
    ) -> ShareDecision:
        known = self.find(key)
        if known is not None and state_epoch < known.state_epoch:
            return _refused(ErrorCode.FENCED_STATE_EPOCH)
        if known is not None and start_offset == UNKNOWN_OFFSET:
            # A beginning that is asked for twice must not undo what has come of the first.
            return Decision((), Result())
        state = KeptState(
            snapshot_epoch=0 if known is None else known.snapshot_epoch + 1,
            state_epoch=state_epoch,
            start_offset=start_offset,
            done_count=UNKNOWN_COUNT if start_offset == UNKNOWN_OFFSET else 0,
            created_ms=now_ms,
            written_ms=now_ms,
        )
        return Decision([snapshot_record(key, state)], Result())

    def decide_read(self, key: ShareKey, leader_epoch: int) -> ShareDecision:
        """A new leader is noted: the one before may not write any more."""
        known = self.find(key)
        if known is None:
            return _refused(ErrorCode.INVALID_REQUEST, "The share partition is not initialized.")
        if leader_epoch < known.leader_epoch:
            return _refused(ErrorCode.FENCED_LEADER_EPOCH)
        if leader_epoch == known.leader_epoch:
            return Decision((), Result(state=known))
        noted = known._replace(leader_epoch=leader_epoch, batches=())
        return Decision([update_record(key, noted)], Result(state=known))

    def decide_summary(self, key: ShareKey) -> ShareDecision:
        return Decision((), Result(state=self.find(key) or KeptState()))

    def decide_write(self, key: ShareKey, write: Write, now_ms: int) -> ShareDecision:
        place = self._places.get(key)
        if place is None:
            return _refused(ErrorCode.INVALID_REQUEST, "The share partition is not initialized.")
        known = place.state
        if write.leader_epoch < known.leader_epoch:
            return _refused(ErrorCode.FENCED_LEADER_EPOCH)
        if write.state_epoch < known.state_epoch:
            return _refused(ErrorCode.FENCED_STATE_EPOCH)
        if place.updates + 1 >= self._updates_per_snapshot:
            after = known.updated(*write[1:])
            return Decision([_snapshot(key, after, now_ms)], Result())
        changed = known._replace(
            leader_epoch=write.leader_epoch,
            start_offset=write.start_offset,
            done_count=write.done_count,
            batches=tuple(write.batches),
        )
        return Decision([update_record(key, changed)], Result())

    def decide_delete(self, key: ShareKey) -> ShareDecision:
        return Decision([tombstone(key)] if key in self._places else (), Result())

    def decide_topics_deleted(self, topic_ids: Collection[TopicId]) -> Decision[ShareRecord, None]:
        gone = [key for key in self._places if key.topic_id in topic_ids]
        return Decision([tombstone(key) for key in gone], None)

    # --- the log ---

    @property
    def redundant_before(self) -> int:
        """Nothing that stands before this offset counts."""
        found = (place.snapshot_offset for place in self._places.values())
        return min(found, default=self.end_offset)

    def replay(self, record: ShareRecord, offset: int) -> None:
        self.end_offset = offset + 1
        key, value = record.share_key, record.value
        if isinstance(value, ShareSnapshotValue):
            self._places[key] = _Place(kept_of(value), offset)
        elif isinstance(value, ShareUpdateValue):
            self._update(key, value)
        elif isinstance(record.key, ShareSnapshotKey):
            self._places.pop(key, None)

    def _update(self, key: ShareKey, value: ShareUpdateValue) -> None:
        """Of a state whose snapshot was cut off with the beginning of the log, nothing counts."""
        place = self._places.get(key)
        if place is None:
            return
        place.updates += 1
        place.state = place.state.updated(
            value.leader_epoch,
            value.start_offset,
            value.delivery_complete_count,
            batches_of(value.state_batches),
        )

    # --- timers ---

    def decide_loaded(self, now_ms: int) -> Decision[ShareRecord, None]:
        return Decision((), None, [self._next_look(now_ms)])

    def expire(self, key: TimerKey, now_ms: int) -> Decision[ShareRecord, None]:
        if not isinstance(key, ColdTimer):
            raise InvariantError(f"not a timer of share state: {key!r}")
        records: list[ShareRecord] = []
        span = self.end_offset - self.redundant_before
        if span > SPAN_MIN + 2 * len(self._places):
            middle = self.end_offset - span // 2
            records = [
                _snapshot(one, place.state, now_ms)
                for one, place in self._places.items()
                if place.snapshot_offset < middle
            ]
        return Decision(records, None, [self._next_look(now_ms)])

    def _next_look(self, now_ms: int) -> TimerSet:
        return TimerSet(ColdTimer(), now_ms + self._cold_interval_ms)


def _snapshot(key: ShareKey, state: KeptState, now_ms: int) -> ShareRecord:
    return snapshot_record(
        key, state._replace(snapshot_epoch=state.snapshot_epoch + 1, written_ms=now_ms)
    )


def _refused(error: ErrorCode, message: str | None = None) -> ShareDecision:
    return Decision((), Result(error, message))
