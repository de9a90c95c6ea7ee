"""Drives one pure machine over one journal.

Owns the order of things: decide, write, replay, and the reply once the records are committed.
Knows nothing of what the machine is about.

Records are replayed as soon as they are written, before they are committed, so that the next
request decides on them and many requests share one flush. Replies wait: nobody outside learns of a
record that could still be lost. Also a reply without records waits for what was written before it,
since it may have been decided on that.

Who asks may set a limit to that wait. Then only the answer is given up, with REQUEST_TIMED_OUT:
what was decided stays decided, and is committed later or never.

There is no way back for a record once it is written. When a commit fails, the machine holds what
may never have happened: the driver stops, every caller gets JournalError, and the owner builds a
new machine and loads it from the journal.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from penstock.machine.decision import Decision, Parked, TimerChange
from penstock.machine.journal import Journal
from penstock.machine.state import StateMachine
from penstock.machine.timers import TimerKey, Timers
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, InvariantError, StorageError
from penstock.network.later import Later, future_of
from penstock.telemetry.log import get_logger

log = get_logger("runtime")

MachineT = TypeVar("MachineT", bound=StateMachine[Any])
RecordT = TypeVar("RecordT")
ReplyT = TypeVar("ReplyT")

_TIMER_WAIT_MAX_MS = 60_000
"""Deadlines are wall-clock times, and a wall clock may be set: look again now and then."""

_TIMER_RETRY_MS = 1000
_TIMER_FAULT_MS = 60_000


class JournalError(StorageError):
    """What was decided may not be kept; the machine has to be loaded anew."""


class _Pending(NamedTuple, Generic[RecordT]):
    base_offset: int
    end_offset: int
    decision: Decision[RecordT, Any]
    later: Later[Any]
    due_s: float
    """When the answer is given up, by the loop's time."""


class Runtime(Generic[MachineT, RecordT]):
    """`on_commit(records, base_offset)` is told of records in order, before their replies go out:
    whatever a client may ask for after its reply must be in place by then."""

    def __init__(
        self,
        machine: MachineT,
        journal: Journal[RecordT],
        clock: Clock,
        on_commit: Callable[[Sequence[RecordT], int], None] | None = None,
    ) -> None:
        self.machine = machine
        self._journal = journal
        self._clock = clock
        self._on_commit = on_commit
        self._timers = Timers()
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ms: float = math.inf
        self._pending: deque[_Pending[RecordT]] = deque()
        self._parked: dict[Hashable, Later[Any]] = {}
        self._committer: asyncio.Task[None] | None = None
        self._limit_alarm: asyncio.TimerHandle | None = None
        self._failure: BaseException | None = None

    @property
    def failure(self) -> BaseException | None:
        return self._failure

    @property
    def uncommitted(self) -> Iterator[RecordT]:
        """What is written and replayed, and may still be lost."""
        for pending in self._pending:
            yield from pending.decision.records

    @property
    def pending_count(self) -> int:
        return len(self._pending)

    def load(self, pass_over: Callable[[int, Exception], None] | None = None) -> int:
        """Replay the journal into the machine; the number of records it held. A record that the
        machine has no place for ends the load, unless somebody is there to be told of it."""
        count = 0
        replay = self.machine.replay
        for offset, record in self._journal.load():
            try:
                replay(record, offset)
            except Exception as error:
                if pass_over is None:
                    raise
                pass_over(offset, error)
            count += 1
        return count

    async def submit(
        self,
        decide: Callable[[MachineT], Decision[RecordT, ReplyT]],
        *,
        limit_s: float | None = None,
    ) -> ReplyT:
        """Decide now, answer at commit. A caller that stops waiting does not undo anything."""
        answer = self.ask(decide, limit_s=limit_s)
        return await _wait(answer) if isinstance(answer, Later) else answer

    def ask(
        self,
        decide: Callable[..., Decision[RecordT, ReplyT]],
        *arguments: object,
        limit_s: float | None = None,
    ) -> ReplyT | Later[ReplyT]:
        """The same without a task: the reply itself where nothing has to be waited for, as with
        nearly every heartbeat. `decide` is called with the machine and the arguments."""
        if self._failure is not None:
            raise JournalError(f"not running: {self._failure}") from self._failure
        decision = decide(self.machine, *arguments)
        reply = decision.reply
        if isinstance(reply, Parked):
            return self._ask_parked(decision, reply.key, limit_s)
        later = self._take(decision, limit_s)
        return reply if later is None else later

    def _ask_parked(
        self, decision: Decision[RecordT, ReplyT], key: Hashable, limit_s: float | None
    ) -> ReplyT | Later[ReplyT]:
        if decision.answers and any(answered == key for answered, _ in decision.answers):
            return self.ask(lambda _: _with_own_answer(decision, key), limit_s=limit_s)
        if key in self._parked:
            raise InvariantError(f"two callers parked on {key!r}")
        self._take(decision)
        later: Later[ReplyT] = Later(lambda: self._parked.pop(key, None))
        self._parked[key] = later
        return later

    async def close(self) -> None:
        """Let what was written be committed and answered, then take nothing more."""
        while self._committer is not None:
            await asyncio.wait([self._committer])
        self.fail(JournalError("stopped"))

    # --- taking a decision ---

    def _take(
        self, decision: Decision[RecordT, ReplyT], limit_s: float | None = None
    ) -> Later[ReplyT] | None:
        """None when all of it is settled already."""
        records, _, timers, answers, adopt = decision
        if records:
            base_offset = self._append(records)
            self._replay(records, base_offset)
        if adopt is not None:
            self._adopt(adopt)
        if timers:
            self._apply_timers(timers)
        if not records:
            if not self._pending:
                if answers:
                    self._answer(answers)
                return None
            base_offset = self._journal.end_offset
        return self._settle_or_wait(decision, base_offset, limit_s)

    def _settle_or_wait(
        self, decision: Decision[RecordT, ReplyT], base_offset: int, limit_s: float | None
    ) -> Later[ReplyT] | None:
        end_offset = base_offset + len(decision.records)
        if not self._pending and self._journal.is_committed(end_offset):
            # Already, as where nobody asks for a flush.
            if self._on_commit is not None:
                self._tell(decision.records, base_offset)
            if decision.answers:
                self._answer(decision.answers)
            return None
        later: Later[ReplyT] = Later()
        due_s = math.inf if limit_s is None else self._limit(limit_s)
        self._pending.append(_Pending(base_offset, end_offset, decision, later, due_s))
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit(), name="journal-commit")
        return later

    def _tell(self, records: Sequence[RecordT], base_offset: int) -> None:
        if not records or self._on_commit is None:
            return
        try:
            self._on_commit(records, base_offset)
        except Exception as error:
            self.fail(error)
            raise

    def _append(self, records: Sequence[RecordT]) -> int:
        """A refused append, such as on a full disk, changes nothing and is the caller's alone. So
        is a value that no record can carry."""
        try:
            return self._journal.append(records)
        except ApiError:
            raise
        except ValueError as error:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error
        except Exception as error:
            self.fail(error)
            raise

    def _replay(self, records: Sequence[RecordT], base_offset: int) -> None:
        try:
            replay = self.machine.replay
            for offset, record in enumerate(records, base_offset):
                replay(record, offset)
        except Exception as error:
            self.fail(error)
            raise

    def _adopt(self, adopt: Callable[[], None]) -> None:
        try:
            adopt()
        except Exception as error:
            self.fail(error)
            raise

    # --- committing ---

    async def _commit(self) -> None:
        """Lives while something is uncommitted; what arrives during one wait shares the next."""
        try:
            while self._pending and self._failure is None:
                end_offset = self._pending[-1].end_offset
                await self._journal.wait_committed(end_offset)
                while self._pending and self._pending[0].end_offset <= end_offset:
                    self._settle(self._pending[0])
                    self._pending.popleft()
        except Exception as error:
            self.fail(error)
        finally:
            self._committer = None

    def _settle(self, pending: _Pending[RecordT]) -> None:
        decision = pending.decision
        self._tell(decision.records, pending.base_offset)
        pending.later.settle(decision.reply)
        self._answer(decision.answers)

    def _answer(self, answers: Sequence[tuple[Hashable, object]]) -> None:
        for key, reply in answers:
            waiting = self._parked.pop(key, None)
            if waiting is not None:
                waiting.settle(reply)

    def _limit(self, limit_s: float) -> float:
        """One alarm for all that wait: it rings for the first of them, and then for the next."""
        loop = asyncio.get_running_loop()
        if self._limit_alarm is None:
            self._limit_alarm = loop.call_later(limit_s, self._give_up)
        return loop.time() + limit_s

    def _give_up(self) -> None:
        self._limit_alarm = None
        now_s = asyncio.get_running_loop().time()
        next_s = math.inf
        for pending in tuple(self._pending):
            if pending.due_s <= now_s:
                # Its place in the queue stays: what it decided is still to be committed.
                pending.later.fail(ApiError(ErrorCode.REQUEST_TIMED_OUT, "not committed in time"))
            else:
                next_s = min(next_s, pending.due_s)
        if next_s < math.inf and self._limit_alarm is None:
            self._limit(next_s - now_s)

    def fail(self, error: BaseException) -> None:
        """Nothing more is taken, and who waits hears why: an ApiError is their answer as it is."""
        if self._failure is not None:
            return
        self._failure = error
        for alarm in (self._alarm, self._limit_alarm):
            if alarm is not None:
                alarm.cancel()
        waiting = [*(one.later for one in self._pending), *self._parked.values()]
        self._pending.clear()
        self._parked.clear()
        for later in waiting:
            later.fail(_told_to_waiting(error))

    # --- timers ---

    def _apply_timers(self, changes: Sequence[TimerChange]) -> None:
        """An alarm that rings early finds nothing due and is set anew. So only a deadline before
        it moves it: heartbeats put theirs off, thousands of times a second."""
        if self._timers.apply(changes) < self._alarm_ms:
            self._set_alarm()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm, self._alarm_ms = None, math.inf
        deadline_ms = self._timers.next_deadline_ms()
        if deadline_ms is None or self._failure is not None:
            return
        now_ms = self._clock.now_ms()
        wait_ms = min(max(0, deadline_ms - now_ms), _TIMER_WAIT_MAX_MS)
        self._alarm_ms = now_ms + wait_ms
        self._alarm = asyncio.get_running_loop().call_later(wait_ms / 1000, self._ring)

    def _ring(self) -> None:
        self._alarm, self._alarm_ms = None, math.inf
        now_ms = self._clock.now_ms()
        while self._failure is None and (key := self._timers.pop_next(now_ms)) is not None:
            self._expire(key, now_ms)
        self._set_alarm()

    def _expire(self, key: TimerKey, now_ms: int) -> None:
        try:
            decision = self.machine.expire(key, now_ms)
        except Exception as error:
            # Nothing has changed by it. What is wrong with one entity, as a forged record can make
            # it, is no reason to stop all the others.
            log.error("timer failed", timer=repr(key), exc_info=error)
            self._timers.schedule(key, now_ms + _TIMER_FAULT_MS)
            return
        try:
            self._take(decision)
        except ApiError:
            # The disk had no room for it: the machine is as before, and is asked again.
            self._timers.schedule(key, now_ms + _TIMER_RETRY_MS)
        except Exception as error:
            self.fail(error)


def _with_own_answer(decision: Decision[RecordT, Any], key: Hashable) -> Decision[RecordT, Any]:
    """Who comes last ends the waiting of all, and its own answer is its reply."""
    (own,) = (answer for answered, answer in decision.answers if answered == key)
    others = [answer for answer in decision.answers if answer[0] != key]
    return decision._replace(reply=own, answers=others)


def _told_to_waiting(error: BaseException) -> Exception:
    if isinstance(error, ApiError):
        return ApiError(error.code, error.message)
    stopped = JournalError(f"not committed: {error}")
    stopped.__cause__ = error
    return stopped


async def _wait(later: Later[ReplyT]) -> ReplyT:
    future = future_of(later)
    try:
        return await future
    finally:
        later.cancel()
