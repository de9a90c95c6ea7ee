"""One replica of a partition as handlers see it: appends, reads, and the high watermark.

A replica has a record when the record is as safe there as its topic asks for: with
`flush.messages=1` that is after the shared flush, otherwise as soon as it is written. A record is
committed, and only then visible, when every replica that counts has it.

Whether this node leads the partition, and with whom, is metadata's to say (`lead`, `follow`). A
leader without followers needs no `Leader`: what it has is committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from penstock.metadata.partition import PartitionImage
from penstock.model.error import ApiError, ErrorCode
from penstock.replication.context import ReplicaContext
from penstock.replication.follower import Action
from penstock.replication.follower_log import carry_out
from penstock.replication.isr_change import RECOVERED, IsrAnswer, IsrChange, Outcome
from penstock.replication.leader import Leader
from penstock.replication.refusal import Refusals
from penstock.replication.safety import epoch_start, safe_offset_of, waits_for_disk
from penstock.replication.throttle import PartitionThrottle
from penstock.replication.waiter import AckWaiter, Waiting, Watcher, Watchers
from penstock.storage.append_check import BatchCheck, Origin
from penstock.storage.log import AppendResult, Log, ReadResult
from penstock.storage.lookup import last_stable_offset

READ_UNCOMMITTED = 0
READ_COMMITTED = 1
WHOLE_LOG = -1
"""For followers alone: also what is not committed yet."""

ACKS_ALL = -1
ACKS_LEADER = 1


class Partition:
    __slots__ = (
        "_append_watchers",
        "_context",
        "_ended",
        "_is_alone",
        "_leader",
        "_log",
        "_refusals",
        "_waiting",
        "_waiting_here",
        "_watchers",
        "index",
        "is_led",
        "leader_epoch",
        "leader_id",
        "min_isr",
        "on_moved",
        "on_unled",
        "throttle",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, topic_id: bytes, index: int, context: ReplicaContext) -> None:
        """It is nobody's until `lead` or `follow` says whose."""
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.leader_id = -1
        self.leader_epoch = -1
        self.is_led = False
        self.min_isr = 1
        self.throttle: PartitionThrottle | None = None
        """Of a replica whose copying its topic's settings limit."""
        self._context = context
        self._leader: Leader | None = None
        self._is_alone = False
        self._log: Log | None = None
        self._watchers: Watchers | None = None
        self._append_watchers: Watchers | None = None
        self._waiting: Waiting | None = None
        # Only with followers: otherwise what is safe here is committed.
        self._waiting_here: Waiting | None = None
        self._refusals: Refusals | None = None
        self._ended: ApiError | None = None
        self.on_moved: Callable[[Partition], None] | None = None
        """Told when more of the log is as safe as the topic asks, or its start has moved, while
        this node follows."""
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
            log = self._context.open_log(self)
            self._hold(log)
        return log

    def _hold(self, log: Log) -> None:
        if self.is_led and self._is_alone:
            # What recovery kept was written before and may have been acknowledged: it counts, and
            # is made safe before anybody sees it.
            if log.recovery_point < log.end_offset and waits_for_disk(log):
                log.flush()
            log.advance_high_watermark(log.end_offset)
        log.on_flushed = self._on_flushed
        log.on_start_moved = self._on_start_moved
        self._log = log
        self._begin_epoch(log)
        if self._leader is not None:
            self._leader.start_offset = epoch_start(log)
            self.make_safe()

    def go_on_with(self, log: Log) -> None:
        """The same log in another directory, all of it synced: who waits hears of that."""
        self._hold(log)
        self.advance()
        self._settle(log.high_watermark)
        self._tell_all()

    def _begin_epoch(self, log: Log) -> None:
        """Clients are told of this epoch before anything is written in it, and may ask later where
        it ended: "unknown" would look to them like lost records (KIP-320)."""
        if self.is_led and self.leader_epoch > log.epochs.latest:
            log.epochs.assign(self.leader_epoch, log.end_offset)

    @property
    def is_open(self) -> bool:
        return self._log is not None

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    @property
    def leader(self) -> Leader | None:
        """Of a partition that is led here and has other replicas."""
        return self._leader

    @property
    def ended(self) -> ApiError | None:
        """Why it is served no longer, whoever leads it."""
        return self._ended

    def check_epoch(self, epoch: int) -> None:
        """-1 means that the client does not know and does not care."""
        if epoch == -1 or epoch == self.leader_epoch:
            return
        if epoch < self.leader_epoch:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
        raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    # Roles

    def lead(self, state: PartitionImage, min_isr: int) -> None:
        """This node leads it in that epoch; also called when only replicas or ISR changed."""
        if self._ended is not None:
            return
        self.min_isr = min_isr
        is_new = not self.is_led or state.leader_epoch != self.leader_epoch
        if is_new and self.leader_epoch >= 0:
            unclean = state.leader_recovery_state != RECOVERED
            self._context.tally.note_election(is_unclean=unclean)
        self.leader_id = self._context.node_id
        self.leader_epoch = state.leader_epoch
        self.is_led = True
        self._is_alone = len(state.replicas) == 1
        if self._is_alone:
            self._leader = None
        elif is_new or self._leader is None:
            if self._log is not None:
                self._begin_epoch(self._log)
            self._leader = self._context.new_leader(state, self._log)
        else:
            before = self._leader.isr
            self._leader.update(state, self._context.clock.now_ms())
            self._context.tally.note_isr(before, self._leader.isr)
        log = self._log
        if log is not None:
            self._begin_epoch(log)
            if is_new and not self._is_alone:
                # What was written here may have been damaged since: others now rely on it.
                log.distrust()
            # What was written here as a follower counts once it is safe.
            self.make_safe()
            self.advance()
        self._tell_all()

    def follow(self, state: PartitionImage) -> None:
        """Another node leads it, or nobody."""
        was_led, self.is_led = self.is_led, False
        self.leader_id = state.leader
        self.leader_epoch = state.leader_epoch
        self._leader = None
        if was_led:
            self._dismiss(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        else:
            self._tell_all()

    def on_config(self, min_isr: int) -> None:
        """The topic's settings have changed."""
        self.min_isr = min_isr
        self.make_safe()
        self.advance()
        self._tell_all()

    # Writing

    def append(
        self,
        records: memoryview,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        checked: BatchCheck | None = None,
        acks: int = ACKS_ALL,
    ) -> AppendResult:
        if not self.is_led:
            error = self._ended or ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            raise self._refusal(records, origin, error)
        leader = self._leader
        if leader is not None and acks == ACKS_ALL and not leader.may_append(self.min_isr):
            error = ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, leader.too_few(self.min_isr))
            raise self._refusal(records, origin, error)
        log = self._log or self.log
        if self._refusals is not None and origin is Origin.CLIENT:
            self._refusals.check(records, log.producers)
        active = log.active
        result = log.append(records, self.leader_epoch, now_ms, origin, checked)
        flush_messages = log.config.flush_messages
        if flush_messages == 1:
            if result.last_offset >= log.recovery_point:
                self._context.flush(log)
        else:
            # A complete segment is synced, so that a recovery never has to read far back.
            if log.active is not active or log.end_offset - log.recovery_point >= flush_messages:
                self._context.flush(log)
            if leader is None:
                self._commit_to(log.end_offset)
            else:
                self.advance()
        if self._append_watchers:
            self._tell_appended()
        return result

    def _refusal(self, records: memoryview, origin: Origin, error: ApiError) -> ApiError:
        """For now; what comes behind it is told the same until it comes again."""
        if origin is Origin.CLIENT and self._ended is None:
            if self._refusals is None:
                self._refusals = Refusals()
            self._refusals.note(records, error)
        return error

    @property
    def commits_on_append(self) -> bool:
        """Whether writing is all that a record waits for: neither the disk nor anybody else."""
        return self.is_led and self._leader is None and not waits_for_disk(self._log or self.log)

    def is_acknowledged(self, end_offset: int, acks: int = ACKS_ALL) -> bool:
        """Whether everything below the offset is as safe as the topic and the producer ask."""
        log = self._log or self.log
        leader = self._leader
        if leader is None:
            return log.high_watermark >= end_offset
        if acks == ACKS_LEADER:
            return safe_offset_of(log) >= end_offset
        return log.high_watermark >= end_offset and leader.is_enough(self.min_isr)

    def await_acknowledged(self, end_offset: int, waiter: AckWaiter, acks: int = ACKS_ALL) -> None:
        """The waiter hears once, when everything below `end_offset` is as safe as was asked for,
        or never will be. That may be at once."""
        if self._ended is not None:
            waiter.on_unacknowledged(self, self._ended)
        elif not self.is_led:
            waiter.on_unacknowledged(self, ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        elif self.is_acknowledged(end_offset, acks):
            waiter.on_acknowledged(self)
        elif acks == ACKS_LEADER and self._leader is not None:
            if self._waiting_here is None:
                self._waiting_here = deque()
            self._waiting_here.append((end_offset, waiter))
        else:
            if self._waiting is None:
                self._waiting = deque()
            self._waiting.append((end_offset, waiter))
            if self.high_watermark >= end_offset:
                self._settle(self.high_watermark)

    def _on_flushed(self, log: Log) -> None:
        if log is not self._log:
            return
        if self.is_led:
            self.advance()
        elif self.on_moved is not None:
            self.on_moved(self)

    def _on_start_moved(self, log: Log) -> None:
        if log is self._log:
            if self.on_moved is not None:
                self.on_moved(self)
            self._tell_all()

    def advance(self) -> None:
        """Something has moved: what is safe here, what followers have, or who counts."""
        log = self._log
        if log is None or not self.is_led:
            return
        safe = safe_offset_of(log)
        waiting = self._waiting_here
        while waiting and waiting[0][0] <= safe:
            waiting.popleft()[1].on_acknowledged(self)
        leader = self._leader
        if leader is None:
            self._commit_to(safe)
            return
        now_ms = self._context.clock.now_ms()
        current = log.high_watermark
        self._commit_to(leader.high_watermark(current, safe, self.min_isr, log.end_offset, now_ms))

    def _commit_to(self, end_offset: int) -> None:
        log = self._log
        if log is None or end_offset <= log.high_watermark:
            return
        log.high_watermark = end_offset
        log.producers.advance_high_watermark(end_offset)
        if self._watchers:
            self._tell_committed()
        self._settle(end_offset)

    def _settle(self, end_offset: int) -> None:
        waiting, leader = self._waiting, self._leader
        while waiting and waiting[0][0] <= end_offset:
            waiter = waiting.popleft()[1]
            if leader is None or leader.is_enough(self.min_isr):
                waiter.on_acknowledged(self)
            else:
                error = ApiError(
                    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, leader.too_few(self.min_isr)
                )
                waiter.on_unacknowledged(self, error)

    # Followers

    def on_replica_fetch(
        self, replica_id: int, broker_epoch: int, fetch_offset: int, log_start_offset: int
    ) -> None:
        """A follower has everything before its fetch offset. ApiError if it is none of ours."""
        leader = self._leader
        if leader is None:
            raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH, f"{replica_id} is no replica here")
        log = self._log or self.log
        now_ms = self._context.clock.now_ms()
        leader.on_fetch(
            replica_id, broker_epoch, fetch_offset, log.end_offset, now_ms, log_start_offset
        )
        self.advance()
        change = leader.expand(replica_id, log.high_watermark, self._context.broker_epoch())
        if change is not None:
            self._context.alter_isr(self, change)

    def on_idle_fetches(self, replica_id: int, fetched_ms: int) -> None:
        """A follower that had all of the log has fetched since, up to that time: its fetches named
        this partition no more, since there was nothing new."""
        progress = None if self._leader is None else self._leader.progress(replica_id)
        if progress is not None:
            progress.on_idle_fetches(fetched_ms)

    def shrink_isr(self) -> None:
        """Asks for a smaller in-sync set where followers have fallen behind."""
        leader, context = self._leader, self._context
        if leader is None or self._log is None:
            return
        change = leader.shrink(self._log.end_offset, context.broker_epoch(), context.clock.now_ms())
        if change is not None:
            context.alter_isr(self, change)

    def on_isr_answer(
        self, change: IsrChange, error_code: int, answer: IsrAnswer | None
    ) -> Outcome:
        leader = self._leader
        if leader is None:
            return Outcome.OUTDATED
        before = leader.isr
        outcome = leader.on_answer(change, error_code, answer)
        self._context.tally.note_isr(before, leader.isr)
        if outcome in (Outcome.ADOPTED, Outcome.REVERTED):
            self.advance()
            self._tell_all()
        return outcome

    # Following

    @property
    def safe_offset(self) -> int:
        """What this replica has, as safe as the topic asks."""
        return safe_offset_of(self._log or self.log)

    def make_safe(self) -> None:
        """Asks for what this replica has to be as safe as the topic asks."""
        log = self._log or self.log
        if safe_offset_of(log) < log.end_offset:
            self._context.flush(log)

    def carry_out(self, action: Action) -> None:
        """What the follower has decided to do with its log. ApiError for records that cannot be
        used."""
        log = self._log or self.log
        seen = log.high_watermark
        cut = carry_out(log, action, self._context.clock.now_ms())
        if cut:
            # Before anything is written in place of what was cut: a recovery point or a watermark
            # behind the cut would be about records that are not the ones that stand there then.
            self._context.checkpoint(log)
        if log.config.flush_messages == 1:
            self.make_safe()
        elif log.end_offset - log.recovery_point >= log.config.flush_messages:
            self._context.flush(log)
        if self._watchers and (cut or log.high_watermark != seen):
            self._tell_committed()

    # Reading

    def bound(self, isolation: int) -> int:
        """Up to where a consumer may read, exclusive."""
        log = self._log or self.log
        if isolation == WHOLE_LOG:
            return log.end_offset
        return last_stable_offset(log) if isolation == READ_COMMITTED else log.high_watermark

    def read(self, offset: int, max_bytes: int, bound: int, min_one: bool) -> ReadResult:
        log = self._log or self.log
        if offset > log.end_offset and not self._is_alone and not self._context.is_in_touch():
            # Another may lead by now, and have it. Told that there is no such offset, a consumer
            # would begin anew where `auto.offset.reset` says.
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return log.read(offset, max_bytes, bound, min_one)

    # Watching

    def watch(self, watcher: Watcher) -> None:
        """For committed records."""
        if self._watchers is None:
            self._watchers = {}
        self._watchers[watcher] = None

    def watch_appends(self, watcher: Watcher) -> None:
        """For records that are written here: followers."""
        if self._append_watchers is None:
            self._append_watchers = {}
        self._append_watchers[watcher] = None

    def unwatch(self, watcher: Watcher) -> None:
        for watchers in (self._watchers, self._append_watchers):
            if watchers is not None:
                watchers.pop(watcher, None)

    def _tell_committed(self) -> None:
        watchers, self._watchers = self._watchers, None
        for watcher in watchers or ():
            watcher.on_news(self)

    def _tell_appended(self) -> None:
        watchers, self._append_watchers = self._append_watchers, None
        for watcher in watchers or ():
            watcher.on_news(self)

    def _tell_all(self) -> None:
        self._tell_committed()
        self._tell_appended()

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
        self.is_led = False
        self._leader = None
        self._dismiss(error)

    def _dismiss(self, error: Exception) -> None:
        """Everybody who waits for the leader: it is here no longer."""
        for waiting in (self._waiting, self._waiting_here):
            for _, waiter in waiting or ():
                waiter.on_unacknowledged(self, error)
        self._waiting = self._waiting_here = None
        self._tell_all()
        on_unled, self.on_unled = self.on_unled, None
        if on_unled is not None:
            on_unled(error)
