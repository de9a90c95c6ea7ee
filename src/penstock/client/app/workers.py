"""The workers of a consumer, as many as its concurrency: each takes a record, and then the next.

No task is made for a record, and a handler that does not wait costs no switch of tasks. What is
done is told to lanes, poller and progress here; what fails is left to `handling`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter
from typing import Any, Protocol

from penstock.client.app.declaration import Declaration
from penstock.client.app.handling import Handling, Outcome
from penstock.client.app.lanes import Lanes
from penstock.client.app.log import LOG
from penstock.client.app.part import Part, Work
from penstock.client.app.poller import Poller
from penstock.client.app.quick import BREATH_S, Quick
from penstock.client.app.slot import TIME_OUT, Slot

_MISTAKE_MS = 1000
_PATIENCE_MS = 10_000
"""For so long a record that failed is waited for by those that are suspect with it."""


class Foreman(Protocol):
    """Who decides what is not a worker's business."""

    def again(self, due_ms: int, work: Work) -> None: ...
    def admit(self, part: Part, message: Any) -> None:
        """Put a record into the lanes."""

    def passed(self, work: Work) -> None:
        """A record that may have ended the process has not."""

    def commit(self) -> None: ...
    def fail(self, reason: str) -> None: ...


class Workers:
    def __init__(
        self,
        declared: Declaration,
        lanes: Lanes[Work],
        handling: Handling,
        poller: Poller,
        foreman: Foreman,
    ) -> None:
        self.slots = [Slot() for _ in range(declared.concurrency)]
        self._declared = declared
        self._lanes = lanes
        self._handling = handling
        self._poller = poller
        self._foreman = foreman
        self._to_commit = declared.commit_every
        self.quick = Quick(declared, lanes, handling, foreman.admit, self._done)
        self._idle: deque[asyncio.Future[None]] = deque()
        self._is_waking = False

    def start(self) -> None:
        for slot in self.slots:
            slot.task = asyncio.create_task(self._serve(slot))

    async def stop(self) -> None:
        for slot in self.slots:
            slot.close()
            if slot.task is not None:
                slot.task.cancel()
        await asyncio.gather(*(one.task for one in self.slots if one.task), return_exceptions=True)

    @property
    def busy(self) -> list[Slot]:
        self.quick.catch_up()
        return [each for each in self.slots if each.work is not None]

    def late(self) -> list[Slot]:
        """Those whose handler has had a record for longer than it was given."""
        limit = self._declared.timeout_ms
        if limit is None:
            return []
        latest = perf_counter() - limit / 1000
        return [each for each in self.busy if each.since < latest]

    def end_late(self) -> None:
        for slot in self.late():
            if slot.is_handling:
                slot.cancel(TIME_OUT)

    def committed(self) -> None:
        self._to_commit = self._declared.commit_every

    def wake(self) -> None:
        """One worker; it wakes the next if there is more to do than it takes."""
        while self._idle:
            ready = self._idle.popleft()
            if not ready.done():
                self._is_waking = True
                ready.set_result(None)
                return

    async def _wait_ready(self) -> None:
        self._is_waking = False
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._idle.append(ready)
        await ready
        self._is_waking = False

    async def _serve(self, slot: Slot) -> None:
        lanes, handling, counts = self._lanes, self._handling, self._handling.counts
        quick = self.quick
        now = breath = perf_counter()
        while True:
            work = lanes.take()
            if work is None and not quick.runs:
                await self._wait_ready()
                now = breath = perf_counter()
                continue
            if self._idle and not self._is_waking and (quick.runs or len(lanes)):
                self.wake()
            slot.work = work
            # The end of one record is the beginning of the next: one look at the clock for each.
            slot.since = now
            outcome = None
            try:
                if work is None:
                    work = await quick.serve(slot, self._to_commit)
                    now = perf_counter()
                elif handling.is_plain(work):
                    result = await handling.call(work, work.message.value(), slot)
                    if result is not None:
                        await handling.send_result(work, result)
                    now = perf_counter()
                    counts.took(now - slot.since)
                    counts.handled += 1
                else:
                    outcome = await handling.handle(work, slot)
                    slot.is_handling = True
                    now = perf_counter()
            except (KeyboardInterrupt, GeneratorExit):
                raise
            # What a panic in an extension module raises is no Exception.
            except BaseException as error:
                work = slot.work
                if work is None:
                    self._foreman.fail(f"a mistake of ours: {error!r}")
                    raise
                outcome = await self._failed(slot, work, error)
                now = perf_counter()
            if slot.why is not None:
                # Its handler would not be cancelled; the next one is not to hear of it.
                slot.cancelled()
            slot.work = None
            if outcome is not None and work is not None:
                self._put_off(work, outcome)
            elif work is not None:
                self._finish(work)
            if now - breath > BREATH_S:
                await asyncio.sleep(0)
                now = breath = perf_counter()

    async def _failed(self, slot: Slot, work: Work, error: BaseException) -> Outcome | None:
        """The handler's failure, its end that was ordered here, or a mistake of ours."""
        handling = self._handling
        was_handling, slot.is_handling = slot.is_handling, False
        try:
            if was_handling:
                handling.counts.took(perf_counter() - slot.since)
            if isinstance(error, asyncio.CancelledError):
                return await self._cancelled(slot, work, error)
            if was_handling:
                return await handling.failed(work, error)
            return self._mistaken(work, error)
        except asyncio.CancelledError as ended:
            return await self._cancelled(slot, work, ended)
        except Exception as mistake:
            return self._mistaken(work, mistake)
        finally:
            slot.is_handling = True

    def _mistaken(self, work: Work, error: BaseException) -> Outcome:
        """The record is not lost, and the worker goes on."""
        LOG.error("%s: %s", self._declared.group, work, exc_info=error)
        work.outputs = None
        return Outcome(self._handling.elapsed_ms() + _MISTAKE_MS)

    async def _cancelled(self, slot: Slot, work: Work, error: BaseException) -> Outcome | None:
        """A handler that was ended from here; the worker itself is ended by `stop` alone."""
        why = slot.cancelled()
        if why is None:
            if slot.task is None or slot.task.cancelling():
                raise error
            # What the handler waited for was cancelled by others: a failure of its own.
            return await self._handling.failed(work, error)
        if why != TIME_OUT or work.part.gone:
            return Outcome(None)
        late = TimeoutError(f"{work}: no answer in {self._declared.timeout_ms} ms")
        return await self._handling.failed(work, late)

    def _done(self, records: int) -> None:
        """Records that need nothing more."""
        self._poller.settle(records)
        self._to_commit -= records
        if self._to_commit <= 0:
            self._foreman.commit()

    def _finish(self, work: Work) -> None:
        part, poller = work.part, self._poller
        poller.done += 1
        if poller.is_waiting:
            poller.make_room()
        if work.lane is not None:
            self._lanes.release(work, part.shelf)
        if part.gone:
            return
        if work.outputs is not None:
            part.outputs.append(work)
        part.progress.finish(work.offset)
        if work.is_careful:
            self._foreman.passed(work)
        self._to_commit -= 1
        if self._to_commit <= 0:
            self._foreman.commit()

    def _put_off(self, work: Work, outcome: Outcome) -> None:
        if outcome.again_ms is None:
            self._lanes.release(work, work.part.shelf)
            self._poller.settle(1)
            return
        self._foreman.again(outcome.again_ms, work)
        if work.is_careful and outcome.again_ms > self._handling.elapsed_ms() + _PATIENCE_MS:
            self._foreman.passed(work)
