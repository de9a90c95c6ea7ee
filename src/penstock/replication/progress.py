"""What a leader knows of one follower, from its fetches alone."""

from __future__ import annotations

UNKNOWN = -1


class Progress:
    """A fetch offset is an acknowledgement: everything before it is as safe there as asked."""

    __slots__ = (
        "_asked_end_offset",
        "_asked_ms",
        "broker_epoch",
        "caught_up_ms",
        "end_offset",
        "in_maximal_isr",
        "log_start_offset",
        "replica_id",
        "sent_from",
    )

    def __init__(self, replica_id: int, *, in_isr: bool, now_ms: int) -> None:
        self.replica_id = replica_id
        self.in_maximal_isr = in_isr
        self.end_offset = UNKNOWN
        self.log_start_offset = UNKNOWN
        self.broker_epoch: int | None = None
        """Of its last fetch; -1 if that named none, None if there was no fetch yet."""
        self.sent_from = UNKNOWN
        """Where the records began that it was sent last."""
        self.caught_up_ms = now_ms if in_isr else 0
        # The leader's end, and the time, at the fetch before: having reached that end later means
        # having been caught up then. Otherwise nobody ever would be under constant load.
        self._asked_end_offset = UNKNOWN
        self._asked_ms = 0

    def on_fetch(
        self,
        broker_epoch: int,
        fetch_offset: int,
        log_start_offset: int,
        leader_end_offset: int,
        now_ms: int,
    ) -> None:
        if fetch_offset >= leader_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif fetch_offset >= self._asked_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, self._asked_ms)
        self.end_offset = fetch_offset
        self.log_start_offset = log_start_offset
        self.broker_epoch = broker_epoch
        self._asked_end_offset = max(self._asked_end_offset, leader_end_offset)
        self._asked_ms = now_ms

    def note_left(self) -> None:
        """It is in sync no longer: perhaps its disk has failed. Nobody waits for it to come back
        before it has caught up once more."""
        self.caught_up_ms = 0

    def on_idle_fetches(self, fetched_ms: int) -> None:
        """It has fetched again without naming this partition, up to that time, while it had all of
        the leader's log."""
        if UNKNOWN < self._asked_end_offset <= self.end_offset:
            self.caught_up_ms = max(self.caught_up_ms, fetched_ms)

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_max_ms: int) -> bool:
        return self.end_offset == leader_end_offset or now_ms - self.caught_up_ms <= lag_max_ms
