"""One replica of a partition as handlers see it: appends, reads, and the high watermark.

A replica has a record when the record is as safe there as its topic asks for: with
`flush.messages=1` that is after the shared flush, otherwise as soon as it is written. A record is
committed, and only then visible, when every replica that counts has it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from penstock.model.error import ApiError, ErrorCode
from penstock.storage.append_check import BatchCheck, Origin
from penstock.storage.log import AppendResult, Log, ReadResult
from penstock.storage.lookup import last_stable_offset

READ_UNCOMMITTED = 0
READ_COMMITTED = 1


class Watcher(Protocol):
    """Somebody who waits for new committed records of a partition."""

    def on_commit(self, partition: Partition) -> None: ...


class AckWaiter(Protocol):
    """Somebody whose answer depends on records being as safe as was asked for."""

    def on_acknowledged(self, partition: Partition) -> None: ...

    def on_unacknowledged(self, partition: Partition, error: Exception) -> None: ...


class Partition:
    __slots__ = (
        "_ended",
        "_flush",
        "_log",
        "_open_log",
        "_waiting",
        "_watchers",
        "index",
        "is_led",
        "leader_epoch",
        "on_unled",
        "topic",
        "topic_id",
    )

    def __init__(
        self,
        topic: str,
        topic_id: bytes,
        index: int,
        leader_epoch: int,
        open_log: Callable[[Partition], Log],
        flush: Callable[[Log], None],
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.leader_epoch = leader_epoch
        self._open_log = open_log
        self._flush = flush
        self._log: Log | None = None
        self._watchers: set[Watcher] | None = None
        self._waiting: deque[tuple[int, AckWaiter]] | None = None
        self._ended: ApiError | None = None
        self.is_led = True
        self.on_unled: Callable[[Exception], None] | None = None
        """Told once, when this node leads the partition no longer: whoever keeps state over it."""

    @property
    def log(self) -> Log:
        """Opened at first use: a node holds many more partitions than it touches."""
        log = self._log
        if log is None:
            if self._ended is not None:
                # Opened again, it would bring back the directory of a topic that is deleted.
                raise ApiError(self._ended.code, self._ended.message)
            log = self._open_log(self)
            # What recovery kept was written before and may have been acknowledged: it counts,
            # and is made safe before anybody sees it.
            if log.recovery_point < log.end_offset and _waits_for_disk(log):
                log.flush()
            log.on_flushed = self._on_flushed
            log.advance_high_watermark(log.end_offset)
            # Clients are told of this epoch before anything is written in it, and may ask later
            # where it ended: "unknown" would look to them like lost records (KIP-320).
            if self.leader_epoch > log.epochs.latest:
                log.epochs.assign(self.leader_epoch, log.end_offset)
            self._log = log
        return log

    @property
    def is_open(self) -> bool:
        return self._log is not None

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    def check_epoch(self, epoch: int) -> None:
        """-1 means that the client does not know and does not care."""
        if epoch == -1 or epoch == self.leader_epoch:
            return
        if epoch < self.leader_epoch:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
        raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    # Writing

    def append(
        self,
        records: memoryview,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        checked: BatchCheck | None = None,
    ) -> AppendResult:
        if not self.is_led:
            raise self._ended or ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        log = self._log or self.log
        active = log.active
        result = log.append(records, self.leader_epoch, now_ms, origin, checked)
        flush_messages = log.config.flush_messages
        if flush_messages == 1:
            if result.last_offset >= log.recovery_point:
                self._flush(log)
        else:
            # A complete segment is synced, so that a recovery never has to read far back.
            if log.active is not active or log.end_offset - log.recovery_point >= flush_messages:
                self._flush(log)
            self._commit_to(log.end_offset)
        return result

    def is_acknowledged(self, end_offset: int) -> bool:
        """Whether everything below the offset is as safe as the topic asks."""
        return (self._log or self.log).high_watermark >= end_offset

    def await_acknowledged(self, end_offset: int, waiter: AckWaiter) -> None:
        """The waiter hears once, when everything below `end_offset` is as safe as the topic asks,
        or never will be. That may be at once."""
        if self._ended is not None:
            waiter.on_unacknowledged(self, self._ended)
        elif self.is_acknowledged(end_offset):
            waiter.on_acknowledged(self)
        else:
            if self._waiting is None:
                self._waiting = deque()
            self._waiting.append((end_offset, waiter))

    def _on_flushed(self, log: Log) -> None:
        if log is self._log:
            self._commit_to(log.recovery_point if _waits_for_disk(log) else log.end_offset)

    def _commit_to(self, end_offset: int) -> None:
        log = self._log
        if log is None or end_offset <= log.high_watermark:
            return
        log.high_watermark = end_offset
        log.producers.advance_high_watermark(end_offset)
        if self._watchers:
            for watcher in tuple(self._watchers):
                watcher.on_commit(self)
        waiting = self._waiting
        while waiting and waiting[0][0] <= end_offset:
            waiting.popleft()[1].on_acknowledged(self)

    # Reading

    def bound(self, isolation: int) -> int:
        """Up to where a consumer may read, exclusive."""
        log = self._log or self.log
        return last_stable_offset(log) if isolation == READ_COMMITTED else log.high_watermark

    def read(self, offset: int, max_bytes: int, bound: int, min_one: bool) -> ReadResult:
        return (self._log or self.log).read(offset, max_bytes, bound, min_one)

    def watch(self, watcher: Watcher) -> None:
        if self._watchers is None:
            self._watchers = set()
        self._watchers.add(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        if self._watchers is not None:
            self._watchers.discard(watcher)

    # The log's life

    def end(self, error: Exception | None = None) -> None:
        """The partition is gone, moves away, or its disk failed, and for good: who waits for it
        hears of it now, and who comes later is refused."""
        self._log = None
        error = error or ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        self._ended = (
            error
            if isinstance(error, ApiError)
            else ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"offline: {error}")
        )
        waiting, self._waiting = self._waiting, None
        for _, waiter in waiting or ():
            waiter.on_unacknowledged(self, error)
        for watcher in tuple(self._watchers or ()):
            watcher.on_commit(self)
        self.is_led = False
        on_unled, self.on_unled = self.on_unled, None
        if on_unled is not None:
            on_unled(error)


def _waits_for_disk(log: Log) -> bool:
    """`flush.messages=1`: every acknowledgement waits for the disk."""
    return log.config.flush_messages == 1
