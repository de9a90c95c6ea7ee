"""Drives one pure machine over one journal.

Owns the order of things: decide, write, replay, and the reply once the records are committed.
Knows nothing of what the machine is about.

Records are replayed as soon as they are written, before they are committed, so that the next
request decides on them and many requests share one flush. Replies wait: nobody outside learns of a
record that could still be lost. Also a reply without records waits for what was written before it,
since it may have been decided on that.

There is no way back for a record once it is written. When a commit fails, the machine holds what
may never have happened: the driver stops, every caller gets JournalError, and the owner builds a
new machine and loads it from the journal.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from penstock.machine.decision import Decision, Parked, TimerChange, TimerSet
from penstock.machine.journal import Journal
from penstock.machine.state import StateMachine
from penstock.machine.timers import TimerKey, Timers
from penstock.model.clock import Clock
from penstock.model.error import ApiError, InvariantError, StorageError

MachineT = TypeVar("MachineT", bound=StateMachine[Any])
RecordT = TypeVar("RecordT")
ReplyT = TypeVar("ReplyT")

_TIMER_WAIT_MAX_MS = 60_000
"""Deadlines are wall-clock times, and a wall clock may be set: look again now and then."""

_TIMER_RETRY_MS = 1000


class JournalError(StorageError):
    """What was decided may not be kept; the machine has to be loaded anew."""


@dataclass(slots=True)
class _Pending(Generic[RecordT]):
    base_offset: int
    end_offset: int
    decision: Decision[RecordT, Any]
    future: asyncio.Future[Any] | None


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
        self._parked: dict[Hashable, asyncio.Future[Any]] = {}
        self._committer: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None

    @property
    def failure(self) -> BaseException | None:
        return self._failure

    @property
    def pending_count(self) -> int:
        return len(self._pending)

    def load(self) -> int:
        """Replay the journal into the machine; the number of records it held."""
        count = 0
        for offset, record in self._journal.load():
            self.machine.replay(record, offset)
            count += 1
        return count

    async def submit(self, decide: Callable[[MachineT], Decision[RecordT, ReplyT]]) -> ReplyT:
        """Decide now, answer at commit. A caller that stops waiting does not undo anything."""
        answer = self.ask(decide)
        return await answer if isinstance(answer, asyncio.Future) else answer

    def ask(
        self, decide: Callable[[MachineT], Decision[RecordT, ReplyT]]
    ) -> ReplyT | asyncio.Future[ReplyT]:
        """The same without a task: the reply itself where nothing has to be waited for, as with
        nearly every heartbeat, else a future of it."""
        self._check_running()
        decision = decide(self.machine)
        reply = decision.reply
        if isinstance(reply, Parked):
            return self._ask_parked(decision, reply.key)
        pending = self._take(decision)
        if pending is None:
            return reply
        pending.future = asyncio.get_running_loop().create_future()
        return pending.future

    def _ask_parked(
        self, decision: Decision[RecordT, ReplyT], key: Hashable
    ) -> asyncio.Future[ReplyT]:
        future: asyncio.Future[ReplyT] = asyncio.get_running_loop().create_future()
        self._park(key, future)
        future.add_done_callback(lambda _: self._unpark(key, future))
        try:
            self._take(decision)
        except BaseException:
            self._unpark(key, future)
            if not future.cancel():
                future.exception()  # the caller gets the error itself
            raise
        return future

    async def close(self) -> None:
        """Let what was written be committed and answered, then take nothing more."""
        while self._committer is not None:
            await asyncio.wait([self._committer])
        self._fail(JournalError("stopped"))

    # --- taking a decision ---

    def _check_running(self) -> None:
        if self._failure is not None:
            raise JournalError(f"not running: {self._failure}") from self._failure

    def _take(self, decision: Decision[RecordT, Any]) -> _Pending[RecordT] | None:
        """None when all of it is settled already."""
        base_offset = self._write(decision)
        end_offset = base_offset + len(decision.records)
        if decision.timers:
            self._apply_timers(decision.timers)
        pending = _Pending(base_offset, end_offset, decision, None)
        if not self._pending and (not decision.records or self._is_safe(end_offset)):
            self._settle(pending)
            return None
        self._pending.append(pending)
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit(), name="journal-commit")
        return pending

    def _is_safe(self, end_offset: int) -> bool:
        """Already, as where nobody asks for a flush. A listener is told by the committer alone,
        which knows what to do if it fails."""
        return self._on_commit is None and self._journal.is_committed(end_offset)

    def _write(self, decision: Decision[RecordT, Any]) -> int:
        """A refused append, such as on a full disk, changes nothing and is the caller's alone."""
        base_offset = self._journal.end_offset
        if decision.records:
            base_offset = self._append(decision.records)
        try:
            for offset, record in enumerate(decision.records, base_offset):
                self.machine.replay(record, offset)
            if decision.adopt is not None:
                decision.adopt()
        except Exception as error:
            self._fail(error)
            raise
        return base_offset

    def _append(self, records: Sequence[RecordT]) -> int:
        try:
            return self._journal.append(records)
        except ApiError:
            raise
        except Exception as error:
            self._fail(error)
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
            self._fail(error)
        finally:
            self._committer = None

    def _settle(self, pending: _Pending[RecordT]) -> None:
        decision = pending.decision
        if decision.records and self._on_commit is not None:
            self._on_commit(decision.records, pending.base_offset)
        if pending.future is not None and not pending.future.done():
            pending.future.set_result(decision.reply)
        for key, reply in decision.answers:
            waiting = self._parked.pop(key, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(reply)

    def _park(self, key: Hashable, future: asyncio.Future[Any]) -> None:
        if key in self._parked:
            raise InvariantError(f"two callers parked on {key!r}")
        self._parked[key] = future

    def _unpark(self, key: Hashable, future: asyncio.Future[Any]) -> None:
        if self._parked.get(key) is future:
            del self._parked[key]

    def _fail(self, error: BaseException) -> None:
        if self._failure is not None:
            return
        self._failure = error
        if self._alarm is not None:
            self._alarm.cancel()
        waiting = [one.future for one in self._pending if one.future is not None]
        waiting += self._parked.values()
        self._pending.clear()
        for future in waiting:
            if not future.done():
                stopped = JournalError(f"not committed: {error}")
                stopped.__cause__ = error
                future.set_exception(stopped)

    # --- timers ---

    def _apply_timers(self, changes: Sequence[TimerChange]) -> None:
        """An alarm that rings early finds nothing due and is set anew. So only a deadline before
        it moves it: heartbeats put theirs off, thousands of times a second."""
        self._timers.apply(changes)
        for change in changes:
            if isinstance(change, TimerSet) and change.deadline_ms < self._alarm_ms:
                self._set_alarm()
                return

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
            self._take(self.machine.expire(key, now_ms))
        except ApiError:
            # The disk had no room for it: the machine is as before, and is asked again.
            self._timers.schedule(key, now_ms + _TIMER_RETRY_MS)
        except Exception as error:
            self._fail(error)
