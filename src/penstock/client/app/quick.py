"""The quick way for records whose handler does not wait: no object, no queue, no count for each.

What the poller hands over of a partition is a run. Workers go through the runs one after the other
and call the handler in a tight loop; as long as it returns without waiting, only the partition's
next offset is noted. A handler that waits makes its record a `Work` as all others are, the moment
anybody else gets to do something (`catch_up`): then its lane is busy and its offset begun.
Whatever is not plain (headers, a busy key, a value that does not decode) goes to the lanes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import length_hint
from time import perf_counter
from typing import Any

from penstock.client.app.declaration import Declaration
from penstock.client.app.failure import message_of
from penstock.client.app.handling import Handling
from penstock.client.app.lanes import Lanes
from penstock.client.app.metric import QUICK_S
from penstock.client.app.part import Part, Work
from penstock.client.app.slot import Slot

BREATH_S = 0.01
"""A worker that never waits lets others at the loop this often."""


class Run:
    """Records of one partition, in order; whoever goes on takes the next from `rest`."""

    __slots__ = ("part", "rest")

    def __init__(self, part: Part, records: Sequence[Any]) -> None:
        self.part = part
        self.rest: Iterator[Any] = iter(records)


class Quick:
    def __init__(
        self,
        declared: Declaration,
        lanes: Lanes[Work],
        handling: Handling,
        admit: Callable[[Part, Any], None],
        done: Callable[[int], None],
    ) -> None:
        """`admit` puts a record into the lanes; `done` hears of records that need nothing more."""
        self.is_possible = handling.is_quick and len(lanes.shelves) == 1
        self.runs: deque[Run] = deque()
        self._lane_of = declared.lane_of
        self._lanes = lanes
        self._handling = handling
        self._admit = admit
        self._done = done
        self._slot: Slot | None = None
        """Who goes through a run, and may have to wait."""
        self._run: Run | None = None
        self._left = 0
        """Of the run, when what was done of it was last counted."""
        self._began = 0.0

    def __len__(self) -> int:
        return sum(length_hint(each.rest) for each in self.runs)

    def discard(self, unwanted: Callable[[Part], bool]) -> int:
        """Take out what is not begun; how many."""
        self.catch_up()
        gone = [each for each in self.runs if unwanted(each.part)]
        self.runs = deque(each for each in self.runs if not unwanted(each.part))
        return sum(length_hint(each.rest) for each in gone)

    def start_over(self, part: Part, fresh: Part) -> None:
        """What is not begun belongs to what the partition is now."""
        for each in self.runs:
            if each.part is part:
                each.part = fresh

    def catch_up(self) -> None:
        """Before anybody else looks or acts: whoever is in the middle of a run waits."""
        slot, self._slot = self._slot, None
        if slot is None or self._run is None:
            return
        part, message = self._run.part, slot.message
        self._count(1, slot.since)
        work = Work(part, message.offset(), message, self._lane_of(part.number, message.key()))
        part.progress.begin(work.offset)
        self._lanes.occupy(work.lane)
        slot.work = work

    def _count(self, under_way: int, until: float) -> None:
        """What was done since the last time."""
        assert self._run is not None
        left = length_hint(self._run.rest) + under_way
        handled, self._left = self._left - left, left
        if handled:
            self._run.part.progress.is_dirty = True
            self._handling.counts.took_quickly(handled, until - self._began)
            self._done(handled)
        self._began = until

    def _count_slow(self, since: float, now: float) -> None:
        """One that did not wait, and took its time all the same."""
        self._count(1, since)
        self._left -= 1
        self._began = now
        self._handling.counts.took(now - since)
        self._handling.counts.handled += 1
        self._done(1)

    async def serve(self, slot: Slot, records_max: int) -> Work | None:
        """Go through what there is of a run. A record that had to wait is returned when it is
        done: its partition and lane are not told of it yet."""
        self.catch_up()
        run = self.runs[0]
        part = run.part
        progress = part.progress
        opened = progress.opened
        decode, call, wants_message = self._handling.quickly()
        waiting = self._lanes.waiting
        self._run, self._left = run, length_hint(run.rest)
        self._began = now = perf_counter()
        until = now + BREATH_S
        try:
            for message in islice(run.rest, records_max):
                offset = message.offset()
                if offset < progress.next_offset or progress.known or message.headers():
                    self._leave(part, message, now)
                    return None
                if waiting and self._lane_of(part.number, message.key()) in waiting:
                    self._leave(part, message, now)
                    continue
                try:
                    value = decode(message.value())
                except Exception:
                    # Also what a class of the user's raises when one is made.
                    self._leave(part, message, now)
                    return None
                slot.message, slot.since, self._slot = message, now, slot
                if wants_message:
                    given = message_of(Work(part, offset, message, None), value)
                    result = await call(value, given)
                else:
                    result = await call(value)
                if self._slot is not slot:
                    return await self._after_waiting(slot, result)
                if result is not None:
                    self.catch_up()
                    return await self._after_waiting(slot, result)
                self._slot = None
                if opened:
                    progress.passed(offset)
                else:
                    progress.next_offset = offset + 1
                since, now = now, perf_counter()
                if now - since > QUICK_S:
                    self._count_slow(since, now)
                if now > until:
                    break
            self._count(0, now)
        except BaseException:
            self.catch_up()
            raise
        finally:
            if not length_hint(run.rest) and self.runs and self.runs[0] is run:
                self.runs.popleft()
        return None

    def _leave(self, part: Part, message: Any, now: float) -> None:
        """To the lanes with it: they count it when it is done."""
        self._count(1, now)
        self._left -= 1
        self._admit(part, message)

    async def _after_waiting(self, slot: Slot, result: Any) -> Work:
        work = slot.work
        assert work is not None
        if result is not None:
            await self._handling.send_result(work, result)
        now = perf_counter()
        self._handling.counts.took(now - slot.since)
        self._handling.counts.handled += 1
        return work
