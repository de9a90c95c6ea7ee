"""A table of events that were processed, for receivers that cannot tell a repeated one themselves.

Used within the transaction of an effect (`once`), it makes the effect happen once. Used around an
effect elsewhere (`has`, then `note`), it leaves out what is known to have happened; an event whose
effect happened and whose note was cut off happens again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from penstock.pipelines.sinks.dialect import Dialect, dialect_of

_TABLE = "penstock_processed"
_CREATE = f"""
create table if not exists {_TABLE} (
    output text not null,
    event_id text not null,
    processed_at timestamp not null default current_timestamp,
    primary key (output, event_id)
)"""


@dataclass(frozen=True, slots=True)
class ProcessedEvents:
    url: str = field(repr=False)
    """sqlite:///path, for one machine, or postgresql://…"""
    output: str

    def create(self) -> None:
        with self._dialect.open() as cursor:
            cursor.execute(_CREATE)

    def has(self, event_id: str) -> bool:
        dialect = self._dialect
        same = f"output = {dialect.mark} and event_id = {dialect.mark}"
        with dialect.open() as cursor:
            cursor.execute(f"select 1 from {_TABLE} where {same}", (self.output, event_id))
            return cursor.fetchone() is not None

    def note(self, event_id: str) -> bool:
        with self.once(event_id) as cursor:
            return cursor is not None

    @contextmanager
    def once(self, event_id: str) -> Iterator[Any | None]:
        """A cursor to write with, in the transaction that notes the event; None: it was before."""
        dialect = self._dialect
        with dialect.open() as cursor:
            cursor.execute(
                f"insert into {_TABLE} (output, event_id) values ({dialect.mark}, {dialect.mark})"
                " on conflict do nothing",
                (self.output, event_id),
            )
            yield cursor if cursor.rowcount == 1 else None

    @property
    def _dialect(self) -> Dialect:
        return dialect_of(self.url)
