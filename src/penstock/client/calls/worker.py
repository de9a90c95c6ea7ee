"""Making the calls that were asked for: each until it has succeeded, or was tried often enough.

A call is reserved before it is made, so that others leave it alone meanwhile, and its outcome is
noted in one transaction with whatever follows from it (`Kind.done`, `Kind.gave_up`). Where `done`
fails, the response is kept, and `done` alone is tried again.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from penstock.client.calls.request import Call
from penstock.client.database import OwnDatabase, Statements, open_database

_LOG = logging.getLogger("penstock.calls")
_SKIP = {"postgresql": " for update skip locked", "sqlite": ""}


def _nothing(sql: Statements, call: Call, outcome: Any) -> None:
    """Nothing follows."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is done for calls of one name."""

    make: Callable[[Call], Any]
    """The call itself; what it returns is kept as JSON, or as text where it has no such form; what
    it raises is tried again."""
    done: Callable[[Statements, Call, Any], None] = _nothing
    """What follows from the response, in the transaction that notes it: an outbox event, say. What
    it raises is tried again, without the call."""
    gave_up: Callable[[Statements, Call, str], None] = _nothing
    """What follows when the last attempt has failed. Not of a call that was made."""
    attempts_max: int = 10
    backoff_s: float = 1.0
    """Before the second attempt; twice as long before each one after it."""
    reserve_s: float = 60.0
    """Longer than a call can take: one that was begun is left alone for so long."""


class Worker:
    """Runs in threads of its own from `start` to `stop`; several processes may have one."""

    def __init__(
        self, database: str, kinds: Mapping[str, Kind], *, threads: int = 1, poll_s: float = 0.1
    ) -> None:
        self._url, self._kinds, self._poll_s = database, dict(kinds), poll_s
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name=f"calls-{number}", daemon=True)
            for number in range(threads)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Calls under way are finished."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Worker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with closing(open_database(self._url)) as database:
                    self._serve(database)
            except BaseException as error:  # a thread that ends without a word makes no calls
                _LOG.warning("calls: %s: %s", type(error).__name__, str(error).strip())
                self._stopping.wait(1.0)

    def _serve(self, database: OwnDatabase) -> None:
        while not self._stopping.is_set():
            made = [make_one(database, name, kind) for name, kind in self._kinds.items()]
            if not any(made):
                self._stopping.wait(self._poll_s)


def make_one(database: OwnDatabase, name: str, kind: Kind) -> bool:
    """Make a call that is due; False if there is none."""
    reserved = _reserve(database, name, kind)
    if reserved is None:
        return False
    call, kept = reserved
    if call.attempt > kind.attempts_max:
        # Whoever made the last attempt ended in the middle of it.
        _note_failure(database, kind, call, "no attempt came to its end", kept)
        return True
    try:
        response = kind.make(call) if kept is None else json.loads(kept)
    except BaseException as error:  # among them SystemExit, and panics of extension modules
        _LOG.warning("call %s of %s, attempt %d: %r", call.key, name, call.attempt, error)
        _note_failure(database, kind, call, _text(error), None)
        return True
    try:
        with database.transaction() as sql:
            if _note(sql, call, "done", response=_kept(response)):
                kind.done(sql, call, response)
    except Exception as error:
        _LOG.warning("call %s of %s is made, what follows failed: %r", call.key, name, error)
        _note_failure(database, kind, call, _text(error), _kept(response))
    return True


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _kept(response: Any) -> str:
    """The call was made, whatever it returns: to make it again would be worse."""
    try:
        return json.dumps(response)
    except (TypeError, ValueError):
        return json.dumps(repr(response))


def _reserve(database: OwnDatabase, name: str, kind: Kind) -> tuple[Call, str | None] | None:
    """With the response of a call that was made, where what follows from it is still to be done."""
    with database.transaction() as sql:
        rows = sql.execute(
            "update penstock_call set attempts = attempts + 1, due_ms = ? where key = ("
            "select key from penstock_call where name = ? and state = 'pending' and due_ms <= ?"
            f" order by due_ms limit 1{_SKIP[database.dialect]})"
            " returning key, name, request, attempts, response",
            *(_now_ms() + int(kind.reserve_s * 1000), name, _now_ms()),
        ).rows
    if not rows:
        return None
    key, name, request, attempt, response = rows[0]
    return Call(key, name, json.loads(request), attempt), response


def _note_failure(
    database: OwnDatabase, kind: Kind, call: Call, error: str, response: str | None
) -> None:
    """The response is there where the call was made, and what follows from it failed."""
    with database.transaction() as sql:
        if call.attempt < kind.attempts_max:
            wait_ms = int(kind.backoff_s * 1000) * 2 ** (call.attempt - 1)
            due_ms = _now_ms() + wait_ms
            _note(sql, call, "pending", response=response, error=error, due_ms=due_ms)
        elif _note(sql, call, "failed", response=response, error=error) and response is None:
            kind.gave_up(sql, call, error)


def _note(
    sql: Statements,
    call: Call,
    state: str,
    *,
    response: str | None = None,
    error: str | None = None,
    due_ms: int = 0,
) -> bool:
    """False: somebody else, who thought us dead, has made the call meanwhile."""
    return (
        sql.execute(
            "update penstock_call set state = ?, response = ?, error = ?, due_ms = ?"
            " where key = ? and state = 'pending' and attempts = ?",
            *(state, response, error, due_ms, call.key, call.attempt),
        ).count
        == 1
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
