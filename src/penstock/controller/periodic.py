"""What the active controller does by itself: stale brokers, no-op records, elections now and then.

Owns which timers run. Where a node is alone there is nobody to watch and nothing to elect: no timer
runs unless there are delegation tokens, and an idle node writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from penstock.controller.broker_change import fence
from penstock.controller.config import ControllerContext
from penstock.controller.election import Election
from penstock.controller.leader_rules import LeaderRules
from penstock.controller.outcome import Outcome, conclude
from penstock.controller.partition_change import LEADER_UNCHANGED, PartitionChange
from penstock.controller.partition_index import PartitionKey
from penstock.machine.decision import TimerSet
from penstock.machine.timers import TimerKey
from penstock.metadata.record import MetadataRecord
from penstock.protocol.messages.records.no_op_record import NoOpRecord

_NEXT_SOON_MS: Final = 10
_LATE_MS: Final = 1000


class ControllerTimer(StrEnum):
    SESSIONS = "broker sessions"
    NO_OP = "no-op record"
    PREFERRED_LEADERS = "preferred leaders"
    UNCLEAN_ELECTIONS = "unclean elections"
    TOKENS = "delegation tokens"


class PeriodicWork:
    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._running: set[ControllerTimer] = set()
        self._sessions_due_ms = 0

    def timers_to_start(
        self, now_ms: int, nodes_added: int = 0, *, has_tokens: bool = False
    ) -> list[TimerSet]:
        """Those not yet running that there is work for; the caller then adopts them."""
        config, periods = self._context.config, {}
        if self._context.node_count + nodes_added >= 2:
            periods = {
                ControllerTimer.SESSIONS: config.broker_session_timeout_ms,
                **self._periods(),
            }
        if has_tokens or self._context.image.security.tokens:
            periods[ControllerTimer.TOKENS] = config.token_check_interval_ms
        return [
            TimerSet(key, now_ms + period)
            for key, period in periods.items()
            if key not in self._running
        ]

    def adopt(self, timers: Iterable[TimerSet]) -> None:
        for key, deadline_ms in timers:
            assert isinstance(key, ControllerTimer)
            self._running.add(key)
            if key == ControllerTimer.SESSIONS:
                self._sessions_due_ms = deadline_ms

    def _periods(self) -> dict[ControllerTimer, int]:
        config = self._context.config
        periods = {ControllerTimer.UNCLEAN_ELECTIONS: config.unclean_election_interval_ms}
        if config.metadata_max_idle_interval_ms:
            periods[ControllerTimer.NO_OP] = config.metadata_max_idle_interval_ms
        if config.auto_leader_rebalance_enable:
            interval_ms = config.leader_imbalance_check_interval_ms
            periods[ControllerTimer.PREFERRED_LEADERS] = interval_ms
        return periods

    def expire(self, key: TimerKey, now_ms: int) -> Outcome[None]:
        if not isinstance(key, ControllerTimer):
            return conclude(self._context.config, (), None)
        if key == ControllerTimer.TOKENS:
            return self._expire_tokens(now_ms)
        if self._context.node_count < 2:
            return self._ended(key)
        if key == ControllerTimer.SESSIONS:
            return self._expire_sessions(now_ms)
        wait_ms = self._periods()[key]
        if key == ControllerTimer.NO_OP:
            return self._again(key, now_ms + wait_ms, [NoOpRecord()])
        is_preferred = key == ControllerTimer.PREFERRED_LEADERS
        records = self._preferred_elections() if is_preferred else self._unclean_elections()
        if len(records) >= self._context.config.elections_per_round_max:
            wait_ms = _NEXT_SOON_MS
        return self._again(key, now_ms + wait_ms, records)

    def _again(
        self, key: ControllerTimer, next_ms: int, records: list[MetadataRecord]
    ) -> Outcome[None]:
        outcome: Outcome[None] = conclude(self._context.config, records, None)
        return outcome._replace(timers=[TimerSet(key, next_ms)])

    def _ended(self, key: ControllerTimer) -> Outcome[None]:
        outcome: Outcome[None] = conclude(self._context.config, (), None)
        return outcome._replace(adopt=lambda: self._running.discard(key))

    def _expire_tokens(self, now_ms: int) -> Outcome[None]:
        if not self._context.image.security.tokens:
            return self._ended(ControllerTimer.TOKENS)
        from penstock.controller.token import expired_tokens

        next_ms = now_ms + self._context.config.token_check_interval_ms
        return self._again(ControllerTimer.TOKENS, next_ms, expired_tokens(self._context, now_ms))

    # --- brokers that are silent ---

    def _expire_sessions(self, now_ms: int) -> Outcome[None]:
        """One broker at a time. A controller that was held up itself has unread heartbeats: it
        reads them before it judges anybody (KAFKA-15019)."""
        context, sessions = self._context, self._context.sessions
        unfenced = [broker.id for broker in context.image.brokers.values() if not broker.fenced]
        is_late = now_ms > self._sessions_due_ms + _LATE_MS
        silent = None if is_late else sessions.silent_longest(unfenced, now_ms)
        records = [] if silent is None else fence(context, context.image.brokers[silent])
        next_ms = sessions.next_end_ms(one for one in unfenced if one != silent)
        if next_ms is None:
            next_ms = now_ms + context.config.broker_session_timeout_ms
        earliest_ms = now_ms + (_LATE_MS if is_late else _NEXT_SOON_MS)
        timer = TimerSet(ControllerTimer.SESSIONS, max(next_ms, earliest_ms))
        outcome: Outcome[None] = conclude(context.config, records, None)
        return outcome._replace(timers=[timer], adopt=lambda: self._end_session(silent, timer))

    def _end_session(self, silent: int | None, timer: TimerSet) -> None:
        self.adopt([timer])
        if silent is not None:
            self._context.sessions.end(silent)

    # --- elections ---

    def _preferred_elections(self) -> list[MetadataRecord]:
        keys = self._context.index.off_preferred()
        return self._elect(keys, Election.PREFERRED)

    def _unclean_elections(self) -> list[MetadataRecord]:
        rules, topics = LeaderRules(self._context), self._context.image.topics
        keys = self._context.index.leaderless()
        allowed = (key for key in keys if rules.allows_unclean(topics.require(key[0])))
        return self._elect(allowed, Election.UNCLEAN)

    def _elect(self, keys: Iterable[PartitionKey], election: Election) -> list[MetadataRecord]:
        rules, topics = LeaderRules(self._context), self._context.image.topics
        records: list[MetadataRecord] = []
        for topic_id, index in keys:
            if len(records) >= self._context.config.elections_per_round_max:
                break
            topic = topics.require(topic_id)
            change = PartitionChange(rules, topic, index, topic.partitions[index])
            change.election = election
            record = change.record()
            if record is not None and record.leader != LEADER_UNCHANGED:
                records.append(record)
        return records
