"""The buckets whose states this worker process has in memory, and their way from Spark's store.

A worker may be given any bucket, and a batch may be worked on again: what is in memory counts only
if the head in the store says the same. What is older is brought up to date by the entries that
came since; what is anything else is read anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from penstock.pipelines.keyed.store_log import Head, StateLog, UnfitError, decode_head

HEAD = -1
"""Where the head stands among the entries, by their numbers."""


class Entries(Protocol):
    """Spark's `MapState` of one group, from numbers to bytes."""

    def getValue(self, userKey: tuple[int]) -> tuple[bytes] | None: ...

    def updateValue(self, userKey: tuple[int], value: tuple[bytes]) -> None: ...

    def removeKey(self, userKey: tuple[int]) -> None: ...


class Buckets:
    def __init__(self) -> None:
        self._query = ""
        self._logs: dict[int, StateLog] = {}
        self.entries_read = 0

    def take(self, query: str, bucket: int, entries: Entries) -> StateLog:
        """The states as they are in the store; not kept here until they are put back."""
        if query != self._query:
            # A worker belongs to one query at a time: these are of one that has ended.
            self._query, self._logs = query, {}
        value = entries.getValue((HEAD,))
        head = decode_head(None if value is None else bytes(value[0]))
        log = self._logs.pop(bucket, None)
        if log is not None and log.head == head:
            return log
        if log is not None and head.first <= log.head.next < head.next:
            try:
                log.replay(head, self._read(entries, range(log.head.next, head.next)))
                return log
            except UnfitError:
                pass  # an attempt that came to nothing; what it left in memory is no guide
        log = StateLog()
        log.replay(head, self._read(entries, range(head.first, head.next)))
        return log

    def put(self, query: str, bucket: int, log: StateLog) -> None:
        if query == self._query:
            self._logs[bucket] = log

    def _read(self, entries: Entries, numbers: range) -> Iterator[bytes]:
        for number in numbers:
            value = entries.getValue((number,))
            if value is None:
                raise UnfitError(f"entry {number} is missing")
            self.entries_read += 1
            yield bytes(value[0])


def write(entries: Entries, log: StateLog, changed: dict[bytes, bytes | None]) -> None:
    """Have the store hold these changes, too."""
    if not changed:
        return
    appended = log.append(changed)
    for number, value in appended.entries:
        entries.updateValue((number,), (value,))
    for number in appended.removed:
        entries.removeKey((number,))
    _write_head(entries, appended.head)


def _write_head(entries: Entries, head: Head) -> None:
    entries.updateValue((HEAD,), (head.encode(),))
