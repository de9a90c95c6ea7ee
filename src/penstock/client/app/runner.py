"""One consumer at work: records from the poller to the handler, and what is done to the commits.

The event loop's side of a `Poller`: it puts records into the lanes, from where `workers` take
them, and lets go of partitions that are taken away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from confluent_kafka import TopicPartition

from penstock.client.app.assignment import Assignment
from penstock.client.app.careful import Careful
from penstock.client.app.clock import Clock
from penstock.client.app.commits import Commits, NoCommits, TransactionalCommits
from penstock.client.app.declaration import Declaration
from penstock.client.app.desk import Assigned
from penstock.client.app.handling import Handling
from penstock.client.app.lanes import Lanes
from penstock.client.app.log import LOG
from penstock.client.app.metric import View
from penstock.client.app.part import Part, Work
from penstock.client.app.poller import Poller
from penstock.client.app.quick import Run
from penstock.client.app.slot import TAKEN_AWAY, Slot
from penstock.client.app.transaction import Transactions
from penstock.client.app.waiting import Waiting
from penstock.client.app.workers import Workers

_DRAIN_STEP_S = 0.005


class Runner:
    def __init__(
        self,
        declared: Declaration,
        settings: dict[str, Any],
        handling: Handling,
        clock: Clock,
        on_failure: Callable[[str], None],
        transactions: Transactions | None = None,
    ) -> None:
        self.declared = declared
        self.counts = handling.counts
        self._on_failure = on_failure
        self._loop = asyncio.get_running_loop()
        self._assignment = Assignment(declared)
        self._lanes: Lanes[Work] = Lanes(self._assignment.weights)
        self._careful = Careful(self._assignment, self._lanes, declared.concurrency)
        self._has_one_topic = len(declared.topics) + len(declared.delayed_topics) == 1
        self._taken = 0
        """Records that came from the poller."""
        self._is_ending = False
        self._leaving: dict[tuple[str, int], Part] = {}
        """What is let go of because all ends, and no rebalance has taken away meanwhile."""
        self._ticker: asyncio.TimerHandle | None = None
        self._poller = Poller(declared, settings, self._loop, self)
        self._waiting = Waiting(clock, self._assignment, self._poller, self._due)
        self._workers = Workers(declared, self._lanes, handling, self._poller, self)
        self._quick = self._workers.quick
        self._commits = self._commits_for(transactions, handling)
        handling.commit_now = self._commits.wait_noted

    def _commits_for(self, transactions: Transactions | None, handling: Handling) -> Commits:
        known = (self._assignment, self._poller, self.counts)
        if transactions is not None:
            return TransactionalCommits(*known, transactions, self.fail, handling.refused)
        return NoCommits(*known) if self.declared.delivery == "at-most-once" else Commits(*known)

    # --- from start to end -------------------------------------------------------------------

    def start(self) -> None:
        self._waiting.start()
        self._workers.start()
        self._poller.start([*self.declared.topics, *self.declared.delayed_topics])
        self._tick()

    async def stop(self) -> None:
        """Finish what is under way, commit, leave the group."""
        self._is_ending = True
        parts = self._assignment.remove(list(self._assignment.parts))
        self._leaving = {each.place: each for each in parts}
        commits = await self._let_go(set(parts), lost=False)
        ours = [each for each in commits if (each.topic, each.partition) in self._leaving]
        await asyncio.to_thread(self._poller.stop, ours)
        await asyncio.to_thread(self._commits.close)
        self._waiting.stop()
        if self._ticker is not None:
            self._ticker.cancel()
        await self._workers.stop()

    def is_settled(self, ends: Mapping[tuple[str, int], int]) -> bool:
        """Whether all up to these ends was read, and waits for nothing but time."""
        on_their_way = self._poller.handed - self._taken
        if (
            self._workers.busy
            or on_their_way
            or len(self._lanes)
            or len(self._quick)
            or not self._poller.membership.is_assigned
        ):
            return False
        if self._commits.is_pending:
            # Nobody is to wait for the next regular commit.
            self._commits.soon()
            return False
        topics = {*self.declared.topics, *self.declared.delayed_topics}
        return all(self._is_read(place, end) for place, end in ends.items() if place[0] in topics)

    def _is_read(self, place: tuple[str, int], end: int) -> bool:
        part = self._assignment.parts.get(place)
        if part is None:
            return False
        if part.waits:
            return not part.returns
        return max(part.progress.next_offset, self._poller.eofs.get(place, 0)) >= end

    @property
    def next_due_ms(self) -> int | None:
        return self._waiting.next_ms

    def stuck(self) -> list[str]:
        """Records in a handler for longer than it was given."""
        now = perf_counter()
        return [f"{slot.work} since {now - slot.since:.0f} s" for slot in self._workers.late()]

    @property
    def is_alive(self) -> bool:
        return self._poller.is_alive

    def view(self, app: str) -> View:
        parts = list(self._assignment.parts.values())
        ends = self._poller.ends
        return View(
            app=app,
            group=self.declared.group,
            owner=self.declared.dead_letters.owner or "",
            counts=self.counts,
            rebalances=self._poller.membership.rebalances,
            commit_failures=self._poller.commit_failures,
            in_flight=len(self._workers.busy),
            waiting=self._poller.handed - self._poller.done,
            lags=[
                (*each.place, max(0, ends[each.place] - each.progress.position))
                for each in parts
                if each.place in ends
            ],
        )

    # --- the poller's desk -------------------------------------------------------------------

    def open_commits(self, parts: Sequence[Assigned]) -> list[TopicPartition]:
        return [] if self._is_ending else self._assignment.open_commits(parts)

    def fail(self, reason: str) -> None:
        self._on_failure(f"{self.declared.group}: {reason}")

    def soil(self) -> None:
        self._assignment.soil()

    def assign(self, parts: Sequence[Assigned]) -> None:
        # Whoever ends leaves what comes now to the next owner.
        for each in () if self._is_ending else parts:
            part = self._assignment.add(each)
            self._poller.eofs.pop(part.place, None)
            if part.suspicion is not None:
                self.counts.crashes += 1
                LOG.warning(
                    "%s: %s-%s was left by a crash; if it happens again, its cause is looked for",
                    self.declared.group, part.topic, part.partition,
                )  # fmt: skip

    def take(self, batch: Sequence[Any]) -> None:
        self._quick.catch_up()
        self._taken += len(batch)
        start, topic, partition = 0, batch[0].topic(), batch[0].partition()
        one_topic = self._has_one_topic
        for place, message in enumerate(batch):
            # Most have the partition of the one before.
            if message.partition() != partition or not (one_topic or message.topic() == topic):
                self._take_run((topic, partition), batch[start:place])
                start, topic, partition = place, message.topic(), message.partition()
        self._take_run((topic, partition), batch[start:] if start else batch)
        self._careful.admit()
        self._workers.wake()

    def _take_run(self, place: tuple[str, int], records: Sequence[Any]) -> None:
        part = self._assignment.parts.get(place)
        if part is None:
            self._poller.settle(len(records))
        elif self._quick.is_possible and part.delay is None and part.suspicion is None:
            self._quick.runs.append(Run(part, records))
        else:
            for each in records:
                self._take_one(part, each)

    def _take_one(self, part: Part, message: Any) -> None:
        offset = message.offset()
        if part.delay is not None and self._waiting.sleeps(part, message):
            self._poller.settle(1)
            return
        if part.gone:
            # It was started over since.
            part = self._assignment.parts.get(part.place, part)
        if offset < part.progress.next_offset:
            part = self._start_over(part, offset)
        if not part.progress.begin(offset):
            self._poller.settle(1)
            return
        lane = self.declared.lane_of(part.number, message.key())
        work = Work(part, offset, message, lane)
        if part.suspicion is None:
            self._lanes.add(work, part.shelf)
        else:
            part.backlog.append(work)

    async def drain(self, places: Sequence[tuple[str, int]], *, lost: bool) -> list[TopicPartition]:
        """Let what is under way finish, or cancel it; the last commits of these partitions."""
        parts = set(self._assignment.remove(places))
        parts |= {self._leaving.pop(each) for each in places if each in self._leaving}
        return await self._let_go(parts, lost=lost)

    async def _let_go(self, parts: set[Part], *, lost: bool) -> list[TopicPartition]:
        self._poller.settle(self._quick.discard(parts.__contains__))
        self._forget(lambda work: work.part in parts)
        for part in parts:
            self._poller.settle(len(part.backlog))
            part.backlog.clear()
        deadline = self._loop.time() + (0.0 if lost else self.declared.drain_s)
        while self._at_work(parts) and self._loop.time() < deadline:
            await asyncio.sleep(_DRAIN_STEP_S)
            self._forget(lambda work: work.part in parts)
        if not lost:
            await self._commits.wait_last(parts)
        for part in parts:
            part.gone = True
        for slot in self._at_work(parts):
            LOG.warning("%s: %s is cancelled: %s", self.declared.group, slot.work, TAKEN_AWAY)
            slot.cancel(TAKEN_AWAY)
        self._careful.admit()
        return [each.commit(is_open=False) for each in parts if not each.outputs]

    def _at_work(self, parts: set[Part]) -> list[Slot]:
        return [one for one in self._workers.busy if one.work and one.work.part in parts]

    def _forget(self, unwanted: Callable[[Work], bool]) -> None:
        """Whoever has the partition next does what was not begun here."""
        gone = self._lanes.discard(unwanted)
        for each in self._waiting.discard(unwanted):
            gone.append(each)
            self._lanes.release(each, each.part.shelf)
        self._poller.settle(len(gone))

    # --- partitions that start over ----------------------------------------------------------

    def _start_over(self, part: Part, offset: int) -> Part:
        LOG.warning(
            "%s: %s-%s starts over at offset %s; was its topic made anew?",
            self.declared.group, part.topic, part.partition, offset,
        )  # fmt: skip
        self._forget(lambda work: work.part is part)
        self._poller.settle(len(part.backlog))
        self._poller.eofs.pop(part.place, None)
        fresh = self._assignment.anew(part, offset)
        self._quick.start_over(part, fresh)
        return fresh

    # --- what workers leave to others ----------------------------------------------------------

    def again(self, due_ms: int, work: Work) -> None:
        self._waiting.add(due_ms, work)

    def _due(self, records: Sequence[Work]) -> None:
        self._quick.catch_up()
        for work in records:
            self._lanes.again(work, work.part.shelf)
        self._workers.wake()

    def admit(self, part: Part, message: Any) -> None:
        self._take_one(part, message)

    def passed(self, work: Work) -> None:
        self._careful.passed(work)
        self._poller.brisk = self._careful.is_needed
        self._workers.wake()

    def commit(self) -> None:
        self._workers.committed()
        self._commits.soon()

    def _pass_ends(self) -> None:
        """Marks of transactions, and records of those that were aborted, count as done."""
        begun_not = {run.part for run in self._quick.runs}
        for place, end in self._poller.eofs.items():
            part = self._assignment.parts.get(place)
            if part is not None and not (part.waits or part.backlog or part in begun_not):
                part.progress.end_at(end)

    # --- time --------------------------------------------------------------------------------

    def _tick(self) -> None:
        self._pass_ends()
        self.commit()
        self._workers.end_late()
        self._ticker = self._loop.call_later(self.declared.commit_interval_s, self._tick)
