"""A group shard with a clock, timers and a log in memory, driven as its runtime would."""

from __future__ import annotations

from itertools import count

from penstock.group import FixedTopics, GroupConfig, GroupEntry, GroupShard
from penstock.machine import Decision, Parked, TimerKey, Timers


class GroupWorld:
    """`parked` holds tickets without an answer; one answered twice or never parked is an error."""

    def __init__(self, config: GroupConfig) -> None:
        self.config = config
        self.now_ms = 0
        self.log: list[GroupEntry] = []
        self.topics = FixedTopics()
        self._uuids = count(1)
        self.start()

    def start(self) -> Decision[GroupEntry, None]:
        """A machine made anew from the log; whoever was parked lost its connection."""
        self.timers = Timers()
        self.parked: set[object] = set()
        self.answered: dict[object, object] = {}
        self.shard = GroupShard(self.config, lambda: str(next(self._uuids)), self.topics)
        for offset, record in enumerate(self.log):
            self.shard.replay(record, offset)
        decision = self.shard.decide_loaded(self.now_ms)
        self.take(decision)
        return decision

    def take(self, decision: Decision[GroupEntry, object]) -> None:
        for record in decision.records:
            self.log.append(record)
            self.shard.replay(record, len(self.log) - 1)
        if decision.adopt is not None:
            decision.adopt()
        self.timers.apply(decision.timers)
        if isinstance(decision.reply, Parked):
            assert decision.reply.key not in self.parked
            self.parked.add(decision.reply.key)
        for ticket, answer in decision.answers:
            self.parked.remove(ticket)
            self.answered[ticket] = answer

    def ring(self, until_ms: int) -> tuple[TimerKey, Decision[GroupEntry, None]] | None:
        """The next timer due by then, if there is one."""
        deadline = self.timers.next_deadline_ms()
        if deadline is None or deadline > until_ms:
            self.now_ms = until_ms
            return None
        self.now_ms = max(self.now_ms, deadline)
        key = self.timers.pop_next(self.now_ms)
        decision = self.shard.expire(key, self.now_ms)
        self.take(decision)
        return key, decision
