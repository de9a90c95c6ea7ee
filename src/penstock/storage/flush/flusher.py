"""Group commit: everything that became dirty during one sync is synced by the next.

Owns the tickets on their way and who carries them out: the kernel, where the loop can ask it to,
and a thread where more than the contents of files has to be synced. The event loop asks with
`request`; results come back to it. One failed sync ends the matter for that log: the kernel may
have dropped the pages, so a second try could succeed and lie. Whatever else goes wrong here counts
as a failed sync too: somebody waits for every ticket.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from queue import SimpleQueue
from threading import Lock, Thread
from typing import NamedTuple

from penstock.model.error import StorageError
from penstock.storage.damage import DamagedLog, is_of_one_file
from penstock.storage.disk import Disk
from penstock.storage.flush.loop_sync import LoopSync
from penstock.storage.flush.ticket import FlushTicket
from penstock.storage.log import Log

_logger = logging.getLogger(__name__)

FILES_AT_ONCE = 16
"""Fifty files took 10 ms with four at once and 4 ms with sixteen; more threads gained nothing."""

CallSoon = Callable[[Callable[[], None]], object]
_Task = tuple[Callable[[], None], SimpleQueue[BaseException | None]]
Result = tuple[FlushTicket, Exception | None]
RunLater = Callable[[Callable[[], None]], object]
OnFailed = Callable[[Log, DamagedLog | StorageError], None]


class Stopwatch(NamedTuple):
    """How long shared syncs take, for whoever wants to know."""

    now_s: Callable[[], float]
    observe_s: Callable[[float], None]


class Flusher:
    def __init__(
        self,
        disk: Disk,
        call_soon_threadsafe: CallSoon,
        on_failed: OnFailed,
        threads: int = 1,
        stopwatch: Stopwatch | None = None,
        run_later: RunLater | None = None,
        loop_sync: LoopSync | None = None,
    ) -> None:
        """Where `run_later` is given, it does the work in place of threads. With `loop_sync` a
        thread does only what that cannot do."""
        self._disk = disk
        self._loop_sync = loop_sync
        # With `loop_sync`: whether a sync is under way, or about to be.
        self._busy = False
        self._closing = False
        self._run_later = run_later
        self._stopwatch = stopwatch
        self._call_soon = call_soon_threadsafe
        self._on_failed = on_failed
        self._pending: dict[Log, FlushTicket] = {}
        self._lock = Lock()
        # A token for each thread that has something to do; None ends one.
        self._wake: SimpleQueue[bool | None] = SimpleQueue()
        self._threads = [
            Thread(target=self._run, name=f"flusher-{number}", daemon=True)
            for number in range(threads if run_later is None else 0)
        ]
        self._crew = _Crew()
        self.sync_count = 0
        self._failed: dict[str, StorageError] = {}

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def request(self, log: Log) -> None:
        """Have the log synced up to its present end; the log hears of it on the event loop."""
        with self._lock:
            ticket = self._pending.get(log)
            try:
                if ticket is not None:
                    log.flush_extend(ticket)
                    return
                self._pending[log] = log.flush_start()
            except OSError as error:
                failure = _failure(log.directory, error)
                self._call_soon(lambda: self._on_failed(log, failure))
                return
            idle = len(self._pending) == 1
        if idle:
            if self._loop_sync is not None:
                self._begin_soon(self._loop_sync)
            elif self._run_later is None:
                self._wake.put(True)
            else:
                self._run_later(self._sync_pending)

    def close(self) -> None:
        """Sync what was asked for, then end the threads. Completions are still delivered. From
        another thread than the loop's."""
        with self._lock:
            self._closing = True
        if self._loop_sync is not None:
            self._loop_sync.wait()
            self._call_soon(self._loop_sync.deliver)
            self._call_soon(self._loop_sync.close)
        for _ in self._threads:
            self._wake.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        if self._run_later is not None:
            self._sync_pending()
        self._crew.close()

    # By the kernel: one step of the loop each

    def _begin_soon(self, loop_sync: LoopSync) -> None:
        if not self._busy:
            self._busy = True
            loop_sync.soon(partial(self._begin, loop_sync))

    def _begin(self, loop_sync: LoopSync) -> None:
        with self._lock:
            # Whoever closes takes what is left.
            if self._closing or not self._pending:
                self._busy = False
                return
            tickets = list(self._pending.values())
            if any(ticket.has_names for ticket in tickets):
                self._wake.put(True)
                return
            fds = [fd for ticket in tickets for fd in ticket.fds]
            started_s = self._now_s()
            try:
                loop_sync.begin(fds, lambda codes: self._on_synced(tickets, codes, started_s))
            except OSError:
                # More files than the kernel takes at once.
                self._wake.put(True)
                return
            self._pending = {}

    def _on_synced(self, tickets: list[FlushTicket], codes: list[int], started_s: float) -> None:
        self._observe(started_s)
        self.sync_count += len(tickets)
        of_file = iter(codes)
        self._settle([(ticket, _first_failure(ticket, of_file)) for ticket in tickets])

    def _go_on(self) -> None:
        """What became dirty meanwhile, and by the settling, is next."""
        if self._loop_sync is not None:
            self._busy = False
            if self._pending:
                self._begin_soon(self._loop_sync)

    # By threads

    def _run(self) -> None:
        while True:
            token = self._wake.get()
            self._sync_pending()
            if token is None:
                return

    def _sync_pending(self) -> None:
        with self._lock:
            tickets, self._pending = list(self._pending.values()), {}
        if tickets:
            try:
                self._sync(tickets)
            except BaseException as error:
                self._call_soon(partial(self._fail_all, tickets, error))

    def _fail_all(self, tickets: list[FlushTicket], error: BaseException) -> None:
        _logger.error("the flush thread met something unexpected", exc_info=error)
        failure = error if isinstance(error, Exception) else RuntimeError(str(error))
        self._settle([(ticket, failure) for ticket in tickets])

    def _sync(self, tickets: list[FlushTicket]) -> None:
        """Side by side: file systems make one journal commit of syncs that come together."""
        work, results = deque(tickets), list[Result]()
        hands = min(len(tickets), FILES_AT_ONCE) if self._run_later is None else 1
        started_s = self._now_s()
        self._crew.work(hands, lambda: self._sync_all(work, results))
        self._observe(started_s)
        self.sync_count += len(results)
        self._call_soon(lambda: self._settle(results))

    def _sync_all(self, work: deque[FlushTicket], results: list[Result]) -> None:
        """In several threads at once, each taking what is next."""
        while True:
            try:
                ticket = work.popleft()
            except IndexError:
                return
            results.append(self._sync_one(ticket))

    def _sync_one(self, ticket: FlushTicket) -> Result:
        try:
            ticket.sync(self._disk)
        except Exception as error:
            return ticket, error
        return ticket, None

    def _now_s(self) -> float:
        return 0.0 if self._stopwatch is None else self._stopwatch.now_s()

    def _observe(self, started_s: float) -> None:
        """Before anybody hears of the flush: who asks then finds it counted."""
        if self._stopwatch is not None:
            self._stopwatch.observe_s(self._stopwatch.now_s() - started_s)

    # Either way

    def _settle(self, results: list[Result]) -> None:
        for ticket, failure in results:
            if failure is not None and not _is_alone(failure):
                error = StorageError(f"cannot sync {ticket.directory}: {failure}")
                self._failed.setdefault(_parent(ticket), error)
        for ticket, failure in results:
            try:
                self._settle_one(ticket, failure)
            except Exception as error:
                # Nobody must be left waiting because of somebody else's mistake.
                _logger.error("a flush could not be settled", exc_info=error)
        self._go_on()

    def _settle_one(self, ticket: FlushTicket, failure: Exception | None) -> None:
        # One disk: where one sync failed, no other counts either.
        error = self._failed.get(_parent(ticket)) if self._failed else None
        if error is None and failure is None:
            ticket.log.flush_done(ticket)
            return
        ticket.log.flush_failed(ticket)
        self._on_failed(ticket.log, error or _failure(ticket.directory, failure))


def _first_failure(ticket: FlushTicket, codes: Iterator[int]) -> OSError | None:
    """Takes the codes of the ticket's files, which come in the order of the tickets."""
    failures = [code for code in islice(codes, len(ticket.fds)) if code]
    return OSError(failures[0], os.strerror(failures[0])) if failures else None


def _is_alone(failure: Exception) -> bool:
    """The sync found a name of that log missing or wrong; the disk is as good as before."""
    return isinstance(failure, OSError) and is_of_one_file(failure)


def _failure(directory: str, failure: Exception | None) -> DamagedLog | StorageError:
    message = f"cannot sync {directory}: {failure}"
    if failure is not None and _is_alone(failure):
        return DamagedLog(message)
    return StorageError(message)


def _parent(ticket: FlushTicket) -> str:
    return ticket.directory.rpartition("/")[0]


class _Crew:
    """Threads that lend a hand and wait for the next time.

    An executor does the same with a future, a lock and a condition for each file, and every step
    of those takes the interpreter from the event loop: here a file takes it once.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads: list[Thread] = []

    def work(self, hands: int, work: Callable[[], None]) -> None:
        """Call `work` in so many threads at once, the caller's among them."""
        others = hands - 1
        while len(self._threads) < others:
            name = f"sync-{len(self._threads)}"
            self._threads.append(Thread(target=self._run, name=name, daemon=True))
            self._threads[-1].start()
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        for _ in range(others):
            self._tasks.put((work, done))
        work()
        failures = [done.get() for _ in range(others)]
        for failure in failures:
            if failure is not None:
                raise failure

    def close(self) -> None:
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            work, done = task
            try:
                work()
                done.put(None)
            except BaseException as error:
                done.put(error)
