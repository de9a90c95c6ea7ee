"""A transaction shard with a clock, timers and a log in memory, driven as its runtime would."""

from __future__ import annotations

from penstock.machine import Decision, TimerKey, Timers
from penstock.transaction import (
    TransactionConfig,
    TransactionRecord,
    TransactionShard,
    decode_record,
    encode_record,
)


class TransactionWorld:
    """Records go through their bytes on the way to the log, so that nothing is kept which the log
    does not keep. `ids_left` counts the producer ids at hand; None for no end of them."""

    def __init__(self, config: TransactionConfig) -> None:
        self.config = config
        self.now_ms = 0
        self.log: list[TransactionRecord] = []
        self.ids_left: int | None = None
        self._next_id = 1000
        self.start()

    def start(self) -> Decision[TransactionRecord, None]:
        """A machine made anew from the log."""
        self.timers = Timers()
        self.shard = TransactionShard(self.config, self.take_producer_id)
        for offset, record in enumerate(self.log):
            self.shard.replay(record, offset)
        decision = self.shard.decide_loaded(self.now_ms)
        self.take(decision)
        return decision

    def take_producer_id(self) -> int | None:
        if self.ids_left == 0:
            return None
        if self.ids_left is not None:
            self.ids_left -= 1
        self._next_id += 1
        return self._next_id - 1

    def take(self, decision: Decision[TransactionRecord, object]) -> None:
        for record in decision.records:
            written = decode_record(*encode_record(record))
            assert written is not None
            self.log.append(written)
            self.shard.replay(record, len(self.log) - 1)
        if decision.adopt is not None:
            decision.adopt()
        self.timers.apply(decision.timers)

    def ring(self, until_ms: int) -> tuple[TimerKey, Decision[TransactionRecord, None]] | None:
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
