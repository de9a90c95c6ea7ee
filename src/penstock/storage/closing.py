"""Closing many logs at once: the syncs overlap, in groups that bound the open files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from penstock.model.error import StorageError
from penstock.storage.damage import DamagedLog, is_of_one_file
from penstock.storage.disk import Disk
from penstock.storage.flush.ticket import FlushTicket
from penstock.storage.log import Log

GROUP = 64
THREADS = 8


Failure = tuple[Log, DamagedLog | OSError]
"""A log that could not be closed for reasons of its own."""


def close_logs(
    disk: Disk, logs: Sequence[Log], new_pool: Callable[[int, str], Executor]
) -> list[Failure]:
    """Those that could not be, and why. StorageError if the disk is at fault."""
    failures: list[Failure] = []
    logs = _each(logs, Log.prepare_close, failures)
    if len(logs) > GROUP:
        disk.sync_hint()
    with new_pool(THREADS, "closing") as pool:
        for start in range(0, len(logs), GROUP):
            _close_group(disk, pool, logs[start : start + GROUP], failures)
    return failures


def _each(logs: Sequence[Log], step: Callable[[Log], object], failures: list[Failure]) -> list[Log]:
    """The logs that took the step."""
    done = []
    for log in logs:
        try:
            step(log)
            done.append(log)
        except (DamagedLog, OSError) as error:
            if isinstance(error, OSError) and not is_of_one_file(error):
                raise
            failures.append((log, error))
    return done


def _close_group(disk: Disk, pool: Executor, logs: Sequence[Log], failures: list[Failure]) -> None:
    tickets: list[FlushTicket] = []

    def begin(log: Log) -> None:
        ticket = log.close_start()
        if ticket is not None:
            tickets.append(ticket)

    begun = _each(logs, begin, failures)
    results = list(pool.map(lambda ticket: _sync(disk, ticket), tickets))
    unsynced = set[Log]()
    for ticket, failure in zip(tickets, results, strict=True):
        if failure is None:
            ticket.log.flush_done(ticket)
            continue
        ticket.log.flush_failed(ticket)
        unsynced.add(ticket.log)
        if is_of_one_file(failure):
            failures.append((ticket.log, failure))
    for failure in results:
        if failure is not None and not is_of_one_file(failure):
            raise StorageError(f"cannot sync while closing: {failure}") from failure
    _each([log for log in begun if log not in unsynced], Log.close_done, failures)


def _sync(disk: Disk, ticket: FlushTicket) -> OSError | None:
    try:
        ticket.sync(disk)
    except OSError as error:
        return error
    return None
