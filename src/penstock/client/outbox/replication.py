"""Being told of new events by PostgreSQL's logical replication, instead of looking for them.

The stream says only that something was added: what is to be sent, and what was, is in the tables as
ever. So its slot is temporary. It holds back no log while nobody is connected, and after a break
one look at the table finds what was missed.

psycopg has no replication of its own; its wrapper of libpq has all that is needed.
"""

from __future__ import annotations

import logging
import select
import struct
import threading
import time
import uuid
from typing import Any

from penstock.client.database import DatabaseUseError, open_database

_LOG = logging.getLogger("penstock.outbox")
_SILENCE_S = 1.0
_AGAIN_S = 1.0
_DATA = struct.Struct(">cQQq")
"""What comes: its kind, where it starts in the log, where the log ends, the time."""
_KEEP_ALIVE = struct.Struct(">cQq?")
_STATUS = struct.Struct(">cQQQq?")
_EVENT, _COMMIT = b"I", b"C"


class Replication:
    """A thread that counts commits with events in them, and whoever waits for the next."""

    def __init__(self, url: str) -> None:
        """`url` as of `open_database`."""
        scheme, _, rest = url.partition("://")
        if scheme.partition("+")[0] not in ("postgres", "postgresql"):
            raise DatabaseUseError("only PostgreSQL has logical replication; look for events")
        self._url = f"postgresql://{rest}"
        self._heard = threading.Condition()
        self._commits = 0
        self._is_open = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="outbox-replication", daemon=True)

    @property
    def commits(self) -> int:
        """So many were heard of."""
        return self._commits

    @property
    def is_open(self) -> bool:
        """Whether it would hear of a commit now."""
        return self._is_open

    def wait_beyond(self, commits: int, timeout_s: float) -> None:
        """Until another was heard of."""
        with self._heard:
            self._heard.wait_for(lambda: self._commits > commits, timeout_s)

    def start(self) -> None:
        """Raises DatabaseUseError where the server does not do it."""
        publication = _published(self._url)
        stream = _Stream(self._url, publication)
        self._is_open = True
        self._publication, self._stream = publication, stream
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._tell()
        if self._thread.is_alive():
            self._thread.join()

    def _tell(self) -> None:
        with self._heard:
            self._commits += 1
            self._heard.notify_all()

    def _run(self) -> None:
        stream: _Stream | None = self._stream
        while not self._stopping.is_set():
            try:
                stream = stream or _Stream(self._url, self._publication)
                self._is_open = True
                # What was added while nobody listened.
                self._tell()
                self._follow(stream)
            except Exception as error:
                _LOG.warning("outbox: replication: %s; looking instead", str(error).strip())
                self._is_open = False
                self._stopping.wait(_AGAIN_S)
            if stream is not None:
                stream.close()
                stream = None

    def _follow(self, stream: _Stream) -> None:
        while not self._stopping.is_set():
            if stream.read(_SILENCE_S):
                self._tell()


class _Stream:
    """A replication connection, and a slot that goes with it."""

    def __init__(self, url: str, publication: str) -> None:
        from psycopg import pq

        self._ok = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK, pq.ExecStatus.COPY_BOTH)
        mark = "&" if "?" in url else "?"
        self._connection: Any = pq.PGconn.connect(f"{url}{mark}replication=database".encode())
        if self._connection.status != pq.ConnStatus.OK:
            raise DatabaseUseError(_text(self._connection.error_message))
        self._at = 0
        self._has_event = False
        self._said_at = 0.0
        slot = f"penstock_outbox_{uuid.uuid4().hex}"
        self._execute(
            f"CREATE_REPLICATION_SLOT {slot} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT"
        )
        self._execute(
            f"START_REPLICATION SLOT {slot} LOGICAL 0/0"
            f" (proto_version '1', publication_names '{publication}')"
        )

    def _execute(self, command: str) -> None:
        result = self._connection.exec_(command.encode())
        if result.status not in self._ok:
            raise DatabaseUseError(_text(result.error_message))

    def read(self, timeout_s: float) -> bool:
        """Whether a commit with an event came, in this time."""
        is_news = False
        while True:
            size, data = self._connection.get_copy_data(1)
            if size == 0:
                break
            if size < 0:
                raise DatabaseUseError(_text(self._connection.error_message) or "the stream ended")
            is_news = self._take(bytes(data)) or is_news
        self._confirm()
        if is_news:
            return True
        ready, _, _ = select.select([self._connection.socket], [], [], timeout_s)
        if ready:
            self._connection.consume_input()
        return False

    def _take(self, data: bytes) -> bool:
        if data[:1] == b"k":
            _, end, _, is_urgent = _KEEP_ALIVE.unpack(data)
            self._at = max(self._at, end)
            self._said_at = 0.0 if is_urgent else self._said_at
            return False
        _, start, _, _ = _DATA.unpack_from(data)
        self._at = max(self._at, start)
        kind = data[_DATA.size : _DATA.size + 1]
        if kind == _EVENT:
            self._has_event = True
        elif kind == _COMMIT and self._has_event:
            self._has_event = False
            return True
        return False

    def _confirm(self) -> None:
        """Nothing of the log is needed again: the table has it."""
        if time.monotonic() - self._said_at < _SILENCE_S:
            return
        self._said_at = time.monotonic()
        self._connection.put_copy_data(_STATUS.pack(b"r", self._at, self._at, self._at, 0, False))
        self._connection.flush()

    def close(self) -> None:
        self._connection.finish()


def _published(url: str) -> str:
    """The publication of this outbox's inserts, made if missing. Its name has the table's number:
    publications have no schema."""
    database = open_database(url)
    try:
        with database.transaction() as sql:
            ((level,),) = sql.execute("show wal_level").rows
            if level != "logical":
                raise DatabaseUseError(
                    f"wal_level of this server is {level}: replication needs `alter system set"
                    " wal_level = logical` and a restart"
                )
            ((number,),) = sql.execute("select 'penstock_outbox'::regclass::oid::bigint").rows
            name = f"penstock_outbox_{number}"
            if not sql.execute("select 1 from pg_publication where pubname = ?", name).rows:
                sql.execute(
                    f"create publication {name} for table penstock_outbox with (publish = 'insert')"
                )
            return name
    except database.errors as error:
        raise DatabaseUseError(str(error).strip()) from error
    finally:
        database.close()


def _text(message: bytes) -> str:
    return message.decode(errors="replace").strip()
