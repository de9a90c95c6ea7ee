"""A shard of the outbox as its relay sees it: claimed for a while, then batch after batch.

A relay claims a shard by a lease and a new epoch; every later step names the epoch, so one whose
shard was taken over meanwhile can change nothing. A batch is noted with the shard, under an id of
its own, before any of it is sent; whether it was sent is known to the broker (`sender`). Rows go
together with the choice of the next batch, in one transaction. All times are the database's.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.client.database import DatabaseUseError, OwnDatabase, Statements
from penstock.client.error import ClientError
from penstock.client.outbox.event import Event

_ROW = "id, event_id, topic, key, value, headers, created_ms"
_NOW = {
    "postgresql": "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
    "sqlite": "cast((julianday('now') - 2440587.5) * 86400000 as integer)",
}
# PostgreSQL: whoever claims at the same moment gets another shard, and waits for nobody.
_SKIP = {"postgresql": " for update skip locked", "sqlite": ""}
_AMONG = {
    "postgresql": "id = any(cast(string_to_array(?, ',') as bigint[]))",
    "sqlite": "id in (select value from json_each('[' || ? || ']'))",
}
_COUNTED_MAX = 100_000
_SHOWN_MAX = 100


class ShardLostError(ClientError):
    """Another relay has taken the shard over."""


@dataclass(frozen=True, slots=True)
class Batch:
    batch_id: str
    events: tuple[Event, ...]

    @property
    def ids(self) -> str:
        return ",".join(str(each.id) for each in self.events)

    def without(self, event: Event) -> Batch:
        rest = tuple(each for each in self.events if each is not event)
        return Batch(_new_id(), rest)


@dataclass(frozen=True, slots=True)
class Claim:
    """A shard, as long as nobody claims it after us."""

    shard: int
    outbox: str
    epoch: int
    pending: Batch | None
    """What the last owner may have sent or not."""

    @property
    def transactional_id(self) -> str:
        return f"penstock.outbox.{self.outbox}.{self.shard}"


@dataclass(frozen=True, slots=True)
class Backlog:
    waiting: int
    """At most 100,000 are counted."""
    oldest_ms: int | None
    set_aside: int


@dataclass(frozen=True, slots=True)
class SetAside:
    """An event that the broker refuses for good."""

    id: int
    topic: str
    event_id: str
    error: str


class ShardStore:
    def __init__(self, database: OwnDatabase, owner: str, lease_ms: int) -> None:
        self._database, self._owner, self._lease_ms = database, owner, lease_ms
        self._renew_at = 0.0
        self._now, self._among = _NOW[database.dialect], _AMONG[database.dialect]

    def claim(self) -> Claim | None:
        """Any shard whose lease has ended, or that was ours before an error."""
        with self._database.transaction() as sql:
            found = sql.execute(
                f"update penstock_outbox_shard set owner = ?, epoch = epoch + 1,"
                f" lease_until_ms = {self._now} + ? where shard = ("
                f"select shard from penstock_outbox_shard"
                f" where lease_until_ms < {self._now} or owner = ?"
                f" order by shard limit 1{_SKIP[self._database.dialect]})"
                " returning shard, outbox, epoch, batch_id, batch",
                *(self._owner, self._lease_ms, self._owner),
            ).rows
            if not found:
                return None
            shard, outbox, epoch, batch_id, ids = found[0]
            pending = self._noted(sql, batch_id, ids) if batch_id is not None else None
            return Claim(shard, outbox, epoch, pending)

    def _noted(self, sql: Statements, batch_id: str, ids: str) -> Batch | None:
        rows = sql.execute(
            f"select {_ROW} from penstock_outbox where {self._among} order by id", ids
        ).rows
        return Batch(batch_id, _events(rows)) if rows else None

    def waiting(self, claim: Claim) -> bool:
        """Whether there is something to send; keeps the lease meanwhile, and writes no more often
        than that takes."""
        if time.monotonic() >= self._renew_at:
            with self._database.transaction() as sql:
                self._note(sql, claim, None)
        with self._database.transaction(write=False) as sql:
            found = sql.execute(
                "select 1 from penstock_outbox where shard = ? and error is null limit 1",
                claim.shard,
            )
            return bool(found.rows)

    def advance(self, claim: Claim, sent: Batch | None, limit: int) -> Batch | None:
        """Remove what was sent and note what is to be sent next; the lease begins anew."""
        with self._database.transaction() as sql:
            if sent is not None:
                sql.execute(f"delete from penstock_outbox where {self._among}", sent.ids)
            rows = sql.execute(
                f"select {_ROW} from penstock_outbox where shard = ? and error is null"
                " order by id limit ?",
                *(claim.shard, limit),
            ).rows
            chosen = Batch(_new_id(), _events(rows)) if rows else None
            self._note(sql, claim, chosen)
            return chosen

    def set_aside(self, claim: Claim, batch: Batch, event: Event, error: str) -> Batch:
        """Leave an event in the table that can never be sent, and go on with the others."""
        rest = batch.without(event)
        with self._database.transaction() as sql:
            sql.execute("update penstock_outbox set error = ? where id = ?", error, event.id)
            self._note(sql, claim, rest if rest.events else None)
        return rest

    def _note(self, sql: Statements, claim: Claim, batch: Batch | None) -> None:
        noted = (None, None) if batch is None else (batch.batch_id, batch.ids)
        changed = sql.execute(
            f"update penstock_outbox_shard set batch_id = ?, batch = ?,"
            f" lease_until_ms = {self._now} + ? where shard = ? and epoch = ?",
            *(*noted, self._lease_ms, claim.shard, claim.epoch),
        ).count
        if changed != 1:
            raise ShardLostError(f"shard {claim.shard} is relayed by another process now")
        self._renew_at = time.monotonic() + self._lease_ms / 3000

    def release(self, claim: Claim) -> None:
        """Another relay may have it at once."""
        with self._database.transaction() as sql:
            sql.execute(
                "update penstock_outbox_shard set owner = null, lease_until_ms = 0"
                " where shard = ? and epoch = ?",
                *(claim.shard, claim.epoch),
            )


def count_shards(database: OwnDatabase) -> int:
    try:
        with database.transaction(write=False) as sql:
            return int(sql.execute("select count(*) from penstock_outbox_shard").rows[0][0])
    except database.errors as error:
        raise DatabaseUseError(
            f"no outbox in this database ({str(error).strip().splitlines()[0]}); `penstock outbox"
            " create`, or outbox.create_table(connection), makes one"
        ) from error


def read_backlog(database: OwnDatabase) -> Backlog:
    with database.transaction(write=False) as sql:
        waiting = sql.execute(
            "select count(*) from (select 1 from penstock_outbox where error is null limit ?) as w",
            _COUNTED_MAX,
        ).rows[0][0]
        oldest = sql.execute(
            "select created_ms from penstock_outbox where error is null order by id limit 1"
        ).rows
        aside = sql.execute("select count(*) from penstock_outbox where error is not null").rows
        return Backlog(waiting, oldest[0][0] if oldest else None, aside[0][0])


def read_set_aside(database: OwnDatabase) -> list[SetAside]:
    with database.transaction(write=False) as sql:
        rows = sql.execute(
            "select id, topic, event_id, error from penstock_outbox where error is not null"
            " order by id limit ?",
            _SHOWN_MAX,
        ).rows
        return [SetAside(*row) for row in rows]


def _events(rows: Sequence[Sequence[object]]) -> tuple[Event, ...]:
    return tuple(Event(*row) for row in rows)  # type: ignore[arg-type]


def _new_id() -> str:
    return uuid.uuid4().hex
