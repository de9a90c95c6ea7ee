"""When the offsets of what is done are committed, and with what. Knows no handler.

Plain commits go to the poller. Transactional ones take along what handlers sent: records and
offsets become visible together, or not at all, and what is done out of order is in the same commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from penstock.client.app.assignment import Assignment
from penstock.client.app.log import LOG
from penstock.client.app.metric import Counts
from penstock.client.app.part import Part, Work
from penstock.client.app.transaction import (
    FencedError,
    RefusedError,
    Transaction,
    Transactions,
)

if TYPE_CHECKING:
    from penstock.client.app.poller import Poller

_AGAIN_S = 0.5


class Commits:
    """At least once."""

    def __init__(self, assignment: Assignment, poller: Poller, counts: Counts) -> None:
        self.assignment = assignment
        self.poller = poller
        self.counts = counts

    @property
    def is_pending(self) -> bool:
        """Whether what handlers have sent is to be written yet."""
        return False

    def soon(self) -> None:
        """What changed since the last time; nobody waits for it."""
        commits = self.assignment.dirty_commits()
        if commits:
            self.counts.commits += 1
            self.poller.commit(commits)

    async def wait_noted(self, part: Part) -> None:
        """Until it is taken: a record under suspicion must be known before it is handled."""
        while not await self.poller.wait_committed([part.commit()]):
            await asyncio.sleep(_AGAIN_S)

    async def wait_last(self, parts: Iterable[Part]) -> None:
        """What must be done before these partitions are given up; their offsets go after it."""

    def close(self) -> None:
        """Blocks."""


class NoCommits(Commits):
    """At most once: the poller commits before it hands over."""

    def soon(self) -> None:
        pass


class TransactionalCommits(Commits):
    """Exactly once, where the output is topics of the same cluster."""

    def __init__(
        self,
        assignment: Assignment,
        poller: Poller,
        counts: Counts,
        transactions: Transactions,
        on_failure: Callable[[str], None],
        on_refused: Callable[[Work, RefusedError], Awaitable[None]],
    ) -> None:
        super().__init__(assignment, poller, counts)
        self._transactions = transactions
        self._on_failure = on_failure
        self._on_refused = on_refused
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[bool] | None = None

    @property
    def is_pending(self) -> bool:
        return self._turn.locked() or any(each.outputs for each in self.assignment.parts.values())

    def soon(self) -> None:
        if self._task is None or self._task.done():
            dirty = [each for each in self.assignment.parts.values() if each.progress.is_dirty]
            if dirty:
                self._task = asyncio.create_task(self._commit(dirty))

    async def wait_noted(self, part: Part) -> None:
        while not part.gone and not await self._commit([part]):
            await asyncio.sleep(_AGAIN_S)

    async def wait_last(self, parts: Iterable[Part]) -> None:
        # One that fails here leaves its records to whoever has the partitions next.
        await self._commit([each for each in parts if each.progress.is_dirty])

    async def _commit(self, parts: list[Part]) -> bool:
        async with self._turn:
            if not parts:
                return True
            made = Transaction.of(parts, self.poller.membership.group_metadata)
            self.counts.commits += 1
            try:
                await asyncio.to_thread(self._transactions.run, made)
                self.counts.sent += len(made.outputs)
                return True
            except FencedError as error:
                self._on_failure(str(error))
            except RefusedError as error:
                # Its letter is in the next one instead; all others wait for no more than that.
                for each in made.senders_of(error.records):
                    await self._on_refused(each, error)
            except Exception as error:
                LOG.warning("%s; again", error)
            made.put_back()
            return False

    def close(self) -> None:
        self._transactions.close()
