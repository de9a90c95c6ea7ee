"""The groups of one partition of `__consumer_offsets`, as a pure machine.

Its parts answer requests: `classic` the members, `offsets` commits and fetches, `admin` the rest.
Their `decide_*` methods change nothing; `replay` alone changes what the log keeps. A rebalance
under way, pending members and parked requests are soft: a decision carries their next state, and
the runtime lets the shard adopt it once the records are written. Authorization, names for topic
ids, and finding the partition of a group are the handlers' work.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.group.admin import GroupAdmin
from penstock.group.classic.coordinator import ClassicCoordinator
from penstock.group.classic.turn import Turn
from penstock.group.config import GroupConfig
from penstock.group.offset.coordinator import OffsetCoordinator
from penstock.group.offset.store import OffsetStore
from penstock.group.record import GroupEntry, TxnMarker
from penstock.group.roster import Roster
from penstock.group.sweep import Sweep
from penstock.group.timer import JoinTimer, RetentionTimer, SessionTimer, SyncTimer
from penstock.machine import Decision, TimerChange, TimerKey
from penstock.model.error import InvariantError
from penstock.protocol.messages.records.group_metadata import GroupMetadataKey
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey, OffsetCommitValue


class GroupShard:
    """`new_uuid` gives the random part of member ids."""

    def __init__(self, config: GroupConfig, new_uuid: Callable[[], str]) -> None:
        self.roster = Roster()
        self.store = OffsetStore()
        self.classic = ClassicCoordinator(config, self.roster, new_uuid)
        self.offsets = OffsetCoordinator(config, self.roster, self.store)
        self.admin = GroupAdmin(self.roster, self.store)
        self._sweep = Sweep(config, self.roster, self.store)

    # --- the log ---

    def replay(self, record: GroupEntry, offset: int) -> None:
        if isinstance(record, TxnMarker):
            self.store.end_transaction(record.producer_id, record.committed)
            return
        key, value = record.key, record.value
        if isinstance(key, OffsetCommitKey):
            if isinstance(value, OffsetCommitValue):
                self.roster.admit_simple(key.group)
                self.store.put(key, value, offset, record.producer_id)
            elif value is None:
                self.store.drop(key)
            else:
                raise InvariantError(f"{value.NAME} under the key of an offset")
        elif isinstance(key, GroupMetadataKey):
            if isinstance(value, OffsetCommitValue):
                raise InvariantError("an offset under the key of a group")
            self.roster.replay(key.group, value)
            if value is None and self.store.of_group(key.group):
                self.roster.admit_simple(key.group)

    # --- timers, and the partition's coming and going ---

    def expire(self, key: TimerKey, now_ms: int) -> Decision[GroupEntry, None]:
        if isinstance(key, SessionTimer | JoinTimer | SyncTimer):
            return self.classic.expire(key, now_ms)
        if isinstance(key, RetentionTimer):
            return self._sweep.decide_stretch(now_ms)
        raise InvariantError(f"not a timer of a group: {key!r}")

    def decide_loaded(self, now_ms: int) -> Decision[GroupEntry, None]:
        """To be taken once after the load and before the first request."""
        turns = [self.classic.loaded(group, now_ms) for group in self.roster.groups()]
        return _joined(turns, (self._sweep.start(now_ms),))

    def decide_unloaded(self, now_ms: int) -> Decision[GroupEntry, None]:
        """Answers everybody who is parked; requests are refused from then on."""
        turns = [self.classic.unloaded(group, now_ms) for group in self.roster.groups()]
        return _joined(turns, ())


def _joined(turns: list[Turn], timers: tuple[TimerChange, ...]) -> Decision[GroupEntry, None]:
    def adopt() -> None:
        for turn in turns:
            turn.adopt()

    return Decision(
        [record for turn in turns for record in turn.records],
        None,
        [*timers, *(change for turn in turns for change in turn.timers)],
        [answer for turn in turns for answer in turn.answers],
        adopt,
    )
