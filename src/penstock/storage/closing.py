"""Closing many logs at once: the syncs overlap, in groups that bound the open files."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from penstock.model.error import StorageError
from penstock.storage.disk import Disk
from penstock.storage.flush_ticket import FlushTicket
from penstock.storage.log import Log

GROUP = 64
THREADS = 8


def close_logs(disk: Disk, logs: Sequence[Log]) -> None:
    for log in logs:
        log.prepare_close()
    if len(logs) > GROUP:
        disk.sync_hint()
    with ThreadPoolExecutor(THREADS, "closing") as pool:
        for start in range(0, len(logs), GROUP):
            _close_group(disk, pool, logs[start : start + GROUP])


def _close_group(disk: Disk, pool: ThreadPoolExecutor, logs: Sequence[Log]) -> None:
    tickets = [ticket for log in logs if (ticket := log.close_start()) is not None]
    failures = list(pool.map(lambda ticket: _sync(disk, ticket), tickets))
    for ticket, failure in zip(tickets, failures, strict=True):
        if failure is None:
            ticket.log.flush_done(ticket)
        else:
            ticket.log.flush_failed(ticket)
    for failure in failures:
        if failure is not None:
            raise StorageError(f"cannot sync while closing: {failure}") from failure
    for log in logs:
        log.close_done()


def _sync(disk: Disk, ticket: FlushTicket) -> OSError | None:
    try:
        ticket.sync(disk)
    except OSError as error:
        return error
    return None
