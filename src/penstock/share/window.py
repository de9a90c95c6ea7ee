"""The records of a partition that a share group has under way, from the first that is not done with
to the last that was ever handed out.

Owns their states. What it changes is to be kept by its owner: an acknowledgement counts when that
has succeeded (`commit`), and is undone when it has not (`roll_back`). Releases count at once: to
forget one costs a delivery, not a record.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, takewhile
from operator import attrgetter
from typing import NamedTuple

from penstock.model.error import ApiError, ErrorCode
from penstock.share.acknowledgement import Acknowledgement, AcknowledgeType
from penstock.share.batch import StateBatch
from penstock.share.run import Run
from penstock.share.state import RecordState
from penstock.share.throttle import DeliveryThrottle

_first_of = attrgetter("first")

_OUTCOMES = {
    AcknowledgeType.GAP: RecordState.ARCHIVED,
    AcknowledgeType.ACCEPT: RecordState.ACKNOWLEDGED,
    AcknowledgeType.RELEASE: RecordState.AVAILABLE,
    AcknowledgeType.REJECT: RecordState.ARCHIVED,
}


class LogBatch(NamedTuple):
    """A batch of the log, by its first and last offset. `is_dead`: markers, and what was aborted;
    nobody is to see it."""

    first: int
    last: int
    is_dead: bool = False

    @property
    def length(self) -> int:
        return self.last - self.first + 1


class Acquired(NamedTuple):
    first: int
    last: int
    deliveries: int


class Window:
    """Its runs follow each other without a gap from `start` to `end`, exclusive."""

    __slots__ = ("_runs", "end", "start")

    def __init__(self, start: int, kept: Iterable[StateBatch] = ()) -> None:
        """What was not kept of the stretch in between was handed out at most, and is available."""
        self.start = self.end = start
        self._runs: list[Run] = []
        for batch in kept:
            if batch.last < self.end:
                continue
            self._append(self.end, batch.first - 1, RecordState.AVAILABLE)
            state = RecordState(batch.state)
            self._append(max(batch.first, self.end), batch.last, state, batch.deliveries)
        self.trim()

    # Questions

    @property
    def next_offset(self) -> int:
        """Where the next records to hand out are to be read."""
        available = (run.first for run in self._runs if run.is_available)
        return next(available, self.end)

    def has_room(self, locks_max: int) -> bool:
        """Whether something may be handed out at all, if the log has it."""
        if self.end - self.start < locks_max:
            return True
        return any(run.is_available for run in self._runs)

    @property
    def next_deadline_ms(self) -> int | None:
        found = (run.deadline_ms for run in self._runs if _can_expire(run))
        return min(found, default=None)

    @property
    def next_start(self) -> int:
        """Where it starts if all that is being kept is kept."""
        going = (run.first for run in self._runs if not run.outcome.is_final)
        return next(going, self.end)

    @property
    def done_count(self) -> int:
        """Of offsets behind `next_start` that are done with, likewise."""
        start = self.next_start
        return sum(run.length for run in self._runs if run.first >= start and run.outcome.is_final)

    def states(self) -> list[tuple[int, int, str, int]]:
        """(first, last, state, deliveries), for whoever wants to see it."""
        return [(run.first, run.last, run.state.name, run.count) for run in self._runs]

    # Handing out

    def acquire(
        self,
        member_id: str,
        batches: Iterable[LogBatch],
        records_max: int,
        locks_max: int,
        deadline_ms: int,
        throttle: DeliveryThrottle,
        *,
        exact: bool = False,
        batch_size: int = 0,
    ) -> list[Acquired]:
        """Of batches that are read from `next_offset` on, as many as are needed. Whole ones, so
        that the last may bring more than was asked for, unless it has to be exact. `batch_size`:
        how many records members like to have in one batch."""
        found: list[Acquired] = []
        left = records_max
        for batch in batches:
            self._archive_missing(batch.first)
            is_whole = self._extend(batch, left if exact else None, locks_max)
            for run in self._available_in(batch):
                if batch.is_dead:
                    run.settle(RecordState.ARCHIVED)
                    continue
                if found and throttle.parts(found[-1].deliveries - 1, run.count):
                    exact, left = True, 0
                elif not found and throttle.holds(run.count):
                    beside = min(self._held_beside(run, throttle), batch_size)
                    together = throttle.together_max(run.count, max(beside, batch.length))
                    exact, left = True, (min(left, together) if exact else together)
                if exact and left <= 0:
                    break
                if exact and run.length > left:
                    self._split(run.first + left)
                run.acquire(member_id, deadline_ms)
                left -= run.length
                found.append(Acquired(run.first, run.last, run.count))
            # What is behind it must not look as if there were nothing in between.
            if left <= 0 or not is_whole:
                break
        self.trim()
        return found

    def _held_beside(self, run: Run, throttle: DeliveryThrottle) -> int:
        """The records around it, and itself, that were handed out too often as well."""
        at = self._runs.index(run)
        held = partial(takewhile, lambda one: throttle.holds(one.count))
        after, before = held(self._runs[at:]), held(reversed(self._runs[:at]))
        return sum(one.length for one in chain(after, before))

    def _archive_missing(self, before: int) -> None:
        """Available offsets that a reader came past without finding a record."""
        first = self.next_offset
        if first >= before:
            return
        if before > self.end:
            self._append(self.end, before - 1, RecordState.ARCHIVED)
        for run in self._between(first, before - 1):
            if run.is_available:
                run.settle(RecordState.ARCHIVED)

    def _extend(self, batch: LogBatch, length_max: int | None, locks_max: int) -> bool:
        """By what of the batch was never handed out, if there are locks left. Whether the window
        has all of the batch then."""
        first, last = max(batch.first, self.end), batch.last
        if not batch.is_dead:
            self.trim()
            if self.end - self.start >= locks_max:
                return last < self.end
            if length_max is not None:
                last = min(last, first + length_max - 1)
        self._append(first, last, RecordState.AVAILABLE)
        return last == batch.last

    def _available_in(self, batch: LogBatch) -> list[Run]:
        return [run for run in self._between(batch.first, batch.last) if run.is_available]

    # What becomes of it

    def acknowledge(
        self,
        member_id: str,
        told: Sequence[Acknowledgement],
        count_max: int,
        renewed_until_ms: int,
    ) -> list[StateBatch]:
        """To be kept, and then committed. Nothing at all is taken of what is wrong in one place:
        INVALID_RECORD_STATE."""
        told = [one for one in told if one.last >= self.start]
        for one in told:
            self._check_held(member_id, one)
        changed: list[Run] = []
        for one in told:
            for run in self._between(max(one.first, self.start), one.last):
                if one.type is AcknowledgeType.RENEW:
                    run.deadline_ms = renewed_until_ms
                    continue
                run.next_state = _released(_OUTCOMES[one.type], run, count_max)
                changed.append(run)
        return [run.kept() for run in changed]

    def _check_held(self, member_id: str, one: Acknowledgement) -> None:
        if one.last >= self.end:
            raise _wrong_state("These offsets were not handed out.")
        for run in self._between(max(one.first, self.start), one.last):
            if not run.is_held_by(member_id):
                raise _wrong_state(
                    "The member does not have these records: they were acknowledged before, or "
                    "their lock has expired."
                )

    def commit(self, batches: Iterable[StateBatch]) -> None:
        """They are kept."""
        for run in self._changing(batches):
            run.settle(run.outcome)
        self._join()
        self.trim()

    def roll_back(self, batches: Iterable[StateBatch]) -> None:
        """They are not: the member has them still."""
        for run in self._changing(batches):
            run.next_state = None

    def _changing(self, batches: Iterable[StateBatch]) -> Iterator[Run]:
        for batch in batches:
            for run in self._between(max(batch.first, self.start), batch.last):
                if run.next_state is not None:
                    yield run

    def release(self, member_id: str) -> list[StateBatch]:
        """All that the member has, because it has gone. It may not have seen them: the delivery
        does not count. To be kept."""
        changed = [run for run in self._runs if run.is_held_by(member_id)]
        for run in changed:
            run.count -= 1
            run.settle(RecordState.AVAILABLE)
        return self._told(changed)

    def expire(self, now_ms: int, count_max: int) -> list[StateBatch]:
        """What was not acknowledged in time. To be kept."""
        changed = [run for run in self._runs if _can_expire(run) and run.deadline_ms <= now_ms]
        for run in changed:
            run.settle(_released(RecordState.AVAILABLE, run, count_max))
        return self._told(changed)

    def _told(self, changed: list[Run]) -> list[StateBatch]:
        told = [run.kept() for run in changed]
        self._join()
        self.trim()
        return told

    # Its start

    def trim(self) -> bool:
        """Whether it starts later than before: over what is done with."""
        done = 0
        while done < len(self._runs) and self._runs[done].is_done:
            done += 1
        del self._runs[:done]
        before, self.start = self.start, self._runs[0].first if self._runs else self.end
        return self.start > before

    def move_start(self, offset: int) -> bool:
        """The log begins there: what lies before it is gone."""
        if offset <= self.start:
            return False
        if offset >= self.end:
            self._runs.clear()
            self.start = self.end = offset
            return True
        self._split(offset)
        self._runs = [run for run in self._runs if run.first >= offset]
        self.start = offset
        self.trim()
        return True

    # Runs

    def _append(self, first: int, last: int, state: RecordState, count: int = 0) -> None:
        if first <= last:
            self._runs.append(Run(first, last, state, count))
            self.end = last + 1

    def _split(self, offset: int) -> None:
        """So that a run begins at the offset."""
        at = bisect_right(self._runs, offset, key=_first_of) - 1
        if at >= 0 and self._runs[at].first < offset <= self._runs[at].last:
            self._runs.insert(at + 1, self._runs[at].cut(offset))

    def _between(self, first: int, last: int) -> list[Run]:
        """The runs that make up this stretch, cut to it."""
        if first > last:
            return []
        self._split(first)
        self._split(last + 1)
        low = bisect_right(self._runs, first - 1, key=_first_of)
        high = bisect_right(self._runs, last, key=_first_of)
        return self._runs[low:high]

    def _join(self) -> None:
        joined: list[Run] = []
        for run in self._runs:
            if joined and joined[-1].is_like(run):
                joined[-1].last = run.last
            else:
                joined.append(run)
        self._runs = joined


def _can_expire(run: Run) -> bool:
    return run.state is RecordState.ACQUIRED and run.next_state is None


def _released(state: RecordState, run: Run, count_max: int) -> RecordState:
    """Nothing is handed out more often than that."""
    if state is RecordState.AVAILABLE and run.count >= count_max:
        return RecordState.ARCHIVED
    return state


def _wrong_state(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_RECORD_STATE, message)
