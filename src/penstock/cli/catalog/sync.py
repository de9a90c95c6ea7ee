"""Keeps a database's catalog like the cluster: reads what changed, writes the differences.

The rows that the cluster has are in memory; the database's are known from the last write, or read
again after one that failed. What differs is written in one transaction, together with how far the
log of groups was read: a database holds the catalog of one moment or of another, never a part.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from penstock.cli.catalog.database import DatabaseProblem
from penstock.cli.catalog.declaration import (
    CONSUMER_GROUP,
    KEPT,
    OF_GROUPS,
    PARTITION_ASSIGNMENT,
    POSITION,
    SHARE_GROUP,
    STATE,
    TOPIC,
    CatalogTable,
    Rows,
    differences,
)
from penstock.cli.catalog.group_change import GroupRows
from penstock.cli.catalog.group_log import GroupLog, LogChanged
from penstock.cli.catalog.lag import LagReader
from penstock.cli.catalog.metadata import MetadataLook, MetadataReader
from penstock.cli.catalog.share_progress import ShareProgress
from penstock.cli.catalog.store import CatalogStore
from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure
from penstock.cli.interrupt import check_interrupt
from penstock.cli.operator.link import Link

_RESUME_MS: Final = 12 * 3_600_000
"""Deletions stay in a compacted log for a day: whoever was away for longer may have missed some."""
_WRITE_S: Final = 1.0
_READ_S: Final = 0.2
_CATCH_UP_S: Final = 0.02
"""The library returns after this long, however soon it has what there was."""
_RETRY_S: Final = (0.5, 1.0, 2.0, 5.0)
_CLUSTER: Final = "cluster_id"
_SYNCED: Final = "synced_ms"
_FORM: Final = "form"
_FORM_NOW: Final = "2"
"""What is made of the log of groups: since 2 share groups too."""

Tell = Callable[[str], None]


class CatalogSync:
    def __init__(
        self, cluster: Cluster, store: CatalogStore, interval_s: float, tell: Tell
    ) -> None:
        self._cluster = cluster
        self._store = store
        self._interval_s = interval_s
        self._tell = tell
        self._link = Link(cluster)
        self._reader = MetadataReader(self._link)
        self._lags = LagReader(self._link)
        self._shared = ShareProgress(self._link)
        self._known: dict[CatalogTable, Rows] = {}
        self.rows: dict[CatalogTable, Rows] = {}
        self._look: MetadataLook
        self._log: GroupLog
        self._groups: GroupRows
        self._next_look_s = 0.0
        self._answers = True

    def run(self, *, once: bool) -> None:
        """Up to now, and then on and on unless `once`."""
        self._store.prepare()
        self._known = self._store.load()
        self._begin()
        try:
            self._catch_up()
            while not once:
                check_interrupt()
                self._follow()
        finally:
            self._log.close()

    def _begin(self) -> None:
        look = self._reader.look()
        owner = self._state(_CLUSTER)
        if owner not in (None, look.cluster_id):
            raise Failure(
                f"{self._store.name} has the catalog of another cluster, {owner}; "
                "name another database"
            )
        self.rows = {table: dict(self._known.get(table, {})) for table in KEPT}
        synced = self._state(_SYNCED)
        is_old = synced is None or _now_ms() - int(synced) > _RESUME_MS
        if is_old or self._state(_FORM) != _FORM_NOW:
            self._forget_groups()
        self._look = look
        self._open_log()

    def _state(self, name: str) -> str | None:
        row = self._known[STATE].get((name,))
        return None if row is None else str(row[1])

    def _forget_groups(self) -> None:
        for table in (*OF_GROUPS, POSITION):
            self.rows[table] = {}

    def _open_log(self) -> None:
        positions = {int(row[0] or 0): int(row[1] or 0) for row in self.rows[POSITION].values()}
        self._groups = GroupRows(self.rows, self._topic_name)
        self._log = GroupLog(self._cluster, positions)
        self._adopt(self._look)

    def _topic_name(self, topic_id: bytes) -> str | None:
        return self._look.topic_ids.get(topic_id)

    def _adopt(self, look: MetadataLook) -> None:
        """The metadata as it is now, and the log of groups if it is new."""
        gone = set(self.rows[TOPIC]) - set(look.tables[TOPIC])
        self.rows |= look.tables
        self._look = look
        for (topic,) in gone:
            self._groups.drop_topic(str(topic))
        self._groups.resolve()
        try:
            self._log.assign(self._link, look.leaders)
        except LogChanged:
            self._start_over()
        self._next_look_s = time.monotonic() + self._interval_s

    def _start_over(self) -> None:
        self._log.close()
        self._forget_groups()
        self._open_log()

    def _catch_up(self) -> None:
        """Nothing is written before all has been read that was there: no half of a group."""
        while not self._log.at_end:
            check_interrupt()
            self._read(_CATCH_UP_S)
        if self._groups.waits_for_topics:
            self._adopt(self._reader.look())
        self._measure()
        self._write()

    def _follow(self) -> None:
        deadline_s = time.monotonic() + _WRITE_S
        changed = 0
        while time.monotonic() < deadline_s:
            check_interrupt()
            changed += self._read(_READ_S)
        if self._groups.waits_for_topics or time.monotonic() >= self._next_look_s:
            self._look_again()
            changed += 1
        if changed:
            self._write()

    def _read(self, wait_s: float) -> int:
        try:
            return self._log.read(self._groups.apply, wait_s)
        except LogChanged:
            self._start_over()
            return 1

    def _look_again(self) -> None:
        """A cluster that does not answer leaves the catalog as it is."""
        try:
            self._adopt(self._reader.look())
            self._measure()
        except Failure as failure:
            self._next_look_s = time.monotonic() + self._interval_s
            if self._answers:
                self._tell(f"{failure}; trying again")
            self._answers = False
            return
        if not self._answers:
            self._tell("the cluster answers again")
        self._answers = True

    def _measure(self) -> None:
        changed = self._groups.shared.take_changed()
        self._shared.renew(self.rows, changed, time.monotonic())
        self._lags.renew(self.rows, self._look.leaders, _now_ms())

    def _write(self) -> None:
        """Tried until it is done, where the reason may pass."""
        self.rows[POSITION] = {(each,): (each, at) for each, at in self._log.positions.items()}
        state = {_CLUSTER: self._look.cluster_id, _SYNCED: str(_now_ms()), _FORM: _FORM_NOW}
        self.rows[STATE] = {(name,): (name, value) for name, value in state.items()}
        tries = 0
        while True:
            try:
                if tries:
                    # Whether the last one was committed is not known, nor what became of it.
                    self._store.prepare()
                    self._known = self._store.load()
                self._store.write(list(differences(self._known, self.rows)))
                break
            except DatabaseProblem as problem:
                if not problem.passing:
                    raise
                if not tries:
                    self._tell(f"{problem}; nothing is written until it is back")
                check_interrupt()
                time.sleep(_RETRY_S[min(tries, len(_RETRY_S) - 1)])
                tries += 1
        if tries:
            self._tell("the database is back; the catalog is whole")
        self._known = {table: dict(rows) for table, rows in self.rows.items()}

    def summary(self) -> str:
        counts = {
            "topics": TOPIC,
            "groups": CONSUMER_GROUP,
            "share groups": SHARE_GROUP,
            "assignments": PARTITION_ASSIGNMENT,
        }
        said = ", ".join(f"{len(self.rows[table])} {name}" for name, table in counts.items())
        return f"{self._store.name}: {said}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
