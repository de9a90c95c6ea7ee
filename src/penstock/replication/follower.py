"""The follower of a partition: where it fetches from, and what an answer means for its log.

Lives for one leader epoch, with the same leader named again too (KAFKA-7164). Decides; the caller
sends requests, carries actions out on the log and says how far the log is as safe as the topic
asks. A fetch offset is an acknowledgement, so that nothing is asked for while appended records are
not safe yet.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from penstock.model.error import ErrorCode
from penstock.records.header import Buffer
from penstock.replication.divergence import UNDEFINED, EpochEnd, ReplicaLog, truncation_point
from penstock.replication.fetched import first_base_offset, is_of_later_leader, usable_length


class FetchFrom(NamedTuple):
    """One partition of a fetch."""

    offset: int
    last_fetched_epoch: int
    leader_epoch: int
    log_start_offset: int


class AskOffset(Enum):
    """To be asked of the leader by ListOffsets, with the replica's id and the leader epoch."""

    LATEST = -1
    EARLIEST = -2


class FetchAnswer(NamedTuple):
    """One partition of an answer."""

    error_code: int = ErrorCode.NONE
    records: Buffer = b""
    high_watermark: int = -1
    log_start_offset: int = -1
    diverging: EpochEnd | None = None


class Truncate(NamedTuple):
    """Everything at and behind the offset goes."""

    offset: int


class RestartAt(NamedTuple):
    """All of the log goes, and it begins again at the offset."""

    offset: int


class CutAt(NamedTuple):
    """Everything behind a position of a segment goes: what stands there is damaged."""

    base_offset: int
    position: int
    offset: int


class Append(NamedTuple):
    """Whole batches behind the end, if any, and what the leader said of its own log."""

    records: Buffer
    leader_high_watermark: int
    leader_start_offset: int
    restart_at: int = UNDEFINED
    """The first batch begins before the end of a log that has nothing of interest: begin there."""

    def high_watermark(self, end_offset: int) -> int:
        """With the end after the append: no follower shows what it does not have."""
        return min(self.leader_high_watermark, end_offset)

    def log_start_offset(self, high_watermark: int) -> int:
        return min(self.leader_start_offset, high_watermark)


Action = Truncate | RestartAt | CutAt | Append


class Follower:
    __slots__ = (
        "_asks",
        "_backoff_ms",
        "_log",
        "failed",
        "leader_epoch",
        "leader_id",
        "wait_until_ms",
    )

    def __init__(
        self, leader_id: int, leader_epoch: int, log: ReplicaLog, backoff_ms: int = 1000
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.failed = False
        """The leader has a newer epoch: only metadata helps, and then with another follower."""
        self.wait_until_ms = 0
        self._log = log
        self._backoff_ms = backoff_ms
        self._asks: AskOffset | None = None

    def begin(self) -> Truncate | None:
        """Before the first fetch. Without any epoch the leader cannot tell whether the logs have
        parted: only then is the high watermark what is known to be common."""
        log = self._log
        if log.epochs.latest != UNDEFINED or log.high_watermark >= log.end_offset:
            return None
        return Truncate(max(log.high_watermark, log.log_start_offset))

    # Asking

    def next_request(self, safe_offset: int, now_ms: int) -> FetchFrom | AskOffset | None:
        """What to ask the leader now; None while it is not the time. `safe_offset`: up to where
        the log is as safe as the topic asks."""
        log = self._log
        if self.failed or safe_offset < log.end_offset or now_ms < self.wait_until_ms:
            return None
        if self._asks is not None:
            return self._asks
        return FetchFrom(log.end_offset, log.epochs.latest, self.leader_epoch, log.log_start_offset)

    def back_off(self, now_ms: int) -> None:
        """Also for the caller: the request was not answered, or its records could not be used."""
        self.wait_until_ms = now_ms + self._backoff_ms

    # Answers

    def on_answer(self, asked: FetchFrom, answer: FetchAnswer, now_ms: int) -> Action | None:
        """What to do with the log. An answer to a question that is no longer open is nothing."""
        if not self._is_open(asked):
            return None
        if answer.error_code != ErrorCode.NONE:
            self._on_error(answer.error_code, now_ms)
            return None
        if answer.diverging is not None:
            return self._on_divergence(answer.diverging, now_ms)
        return self._on_records(answer)

    def _is_open(self, asked: FetchFrom) -> bool:
        log = self._log
        return (
            not self.failed
            and self._asks is None
            and asked.leader_epoch == self.leader_epoch
            and asked.offset == log.end_offset
            and asked.last_fetched_epoch == log.epochs.latest
        )

    def _on_error(self, error_code: int, now_ms: int) -> None:
        if error_code == ErrorCode.FENCED_LEADER_EPOCH:
            self.failed = True
        elif error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._asks = AskOffset.LATEST
        else:
            self.back_off(now_ms)

    def _on_divergence(self, diverging: EpochEnd, now_ms: int) -> Truncate | None:
        """Nothing else of such an answer counts: its watermark is about records that are not the
        ones that stand here (KAFKA-14704)."""
        offset = truncation_point(self._log, diverging)
        if offset is None:
            self.back_off(now_ms)
            return None
        # Also at the end: an epoch that was begun here and got no record has to go.
        return Truncate(offset)

    def _on_records(self, answer: FetchAnswer) -> Append | Truncate:
        log, records = self._log, answer.records
        length = usable_length(records, self.leader_epoch)
        watermark, start = answer.high_watermark, answer.log_start_offset
        if length < len(records):
            if is_of_later_leader(records, length, self.leader_epoch):
                # So is its watermark, and what it counts may not be what stands here.
                watermark = start = UNDEFINED
            records = memoryview(records)[:length]
        base = first_base_offset(records) if length else log.end_offset
        if base >= log.end_offset:
            return Append(records, watermark, start)
        if log.log_start_offset < log.end_offset and answer.log_start_offset < log.end_offset:
            return Truncate(base)
        # The leader's log starts within this batch, and all that stands here is before that start:
        # epochs could not tell whether it is the same, and it is no longer of interest.
        return Append(records, watermark, start, restart_at=base)

    def on_offset(
        self, asked: AskOffset, leader_epoch: int, error_code: int, offset: int, now_ms: int
    ) -> Truncate | RestartAt | None:
        """The leader's latest or earliest offset, after OFFSET_OUT_OF_RANGE."""
        if self._asks is not asked or leader_epoch != self.leader_epoch or self.failed:
            return None
        self._asks = None
        if error_code != ErrorCode.NONE:
            self._on_error(error_code, now_ms)
            return None
        end_offset = self._log.end_offset
        if asked is AskOffset.LATEST:
            if offset < end_offset:
                return Truncate(offset)
            self._asks = AskOffset.EARLIEST
            return None
        if offset > end_offset:
            return RestartAt(offset)
        # The offset is in range after all. Should the leader see it otherwise, then not at once.
        self.back_off(now_ms)
        return None
