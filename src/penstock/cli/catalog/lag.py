"""How far groups are behind: in records, and in seconds by the time stamps of the log.

The age of the oldest record that a group has not read is that of the record at its committed
offset; of a share group, at the first that is not done with. Its time is read once, and
remembered until the group moves on: a group that stands still costs nothing but the arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.cli.catalog.declaration import (
    PARTITION_ASSIGNMENT,
    PARTITION_LAG,
    SHARE_PARTITION,
    CatalogTable,
    Row,
    Rows,
)
from penstock.cli.leader_call import LATEST, Leaders, Place, list_offsets
from penstock.cli.operator.link import Link

Spot = tuple[str, int, int]
"""Topic, partition, offset."""


class LagReader:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._times: dict[Spot, int | None] = {}
        """None where only markers of transactions are left, which is asked for each time."""

    def renew(self, tables: Mapping[CatalogTable, Rows], leaders: Leaders, now_ms: int) -> None:
        """Change rows of PartitionLag in place, by the offsets of the others."""
        lags, shared = tables[PARTITION_LAG], tables[SHARE_PARTITION]
        wanted = {(str(key[1]), int(key[2] or 0)) for key in lags}
        ends = list_offsets(self._link, leaders, wanted, LATEST)
        spots = {key: _spot(key, tables) for key in lags}
        behind = {
            spot for spot in spots.values() if spot is not None and spot[2] < ends.get(spot[:2], 0)
        }
        self._times = {
            spot: time_ms
            for spot, time_ms in self._times.items()
            if spot in behind and time_ms is not None
        }
        new = [((topic, part), offset) for topic, part, offset in behind - set(self._times)]
        if new:
            self._times |= self._read_times(new, leaders)
        for key, spot in spots.items():
            if spot is not None and spot[:2] in ends:
                done = int(shared[key][4] or 0) if key in shared else 0
                lags[key] = self._lag_row(lags[key], spot, ends[spot[:2]], done, now_ms)

    def _read_times(
        self, new: Iterable[tuple[Place, int]], leaders: Leaders
    ) -> dict[Spot, int | None]:
        # What reads records is loaded where a group is behind.
        from penstock.cli.group.record_time import read_times

        read = read_times(self._link, leaders, new)
        return {(*place, offset): time for (place, offset), time in read.items()}

    def _lag_row(self, row: Row, spot: Spot, end: int, done: int, now_ms: int) -> Row:
        time_ms = self._times.get(spot)
        lag = max(end - spot[2] - done, 0)
        seconds: float | None = None
        if not lag or (spot in self._times and time_ms is None):
            seconds = 0.0
        elif time_ms is not None:
            seconds = max(now_ms - time_ms, 0) / 1000
        return (*row[:4], end, lag, seconds)


def _spot(key: Row, tables: Mapping[CatalogTable, Rows]) -> Spot | None:
    shared, assigned = tables[SHARE_PARTITION].get(key), tables[PARTITION_ASSIGNMENT].get(key)
    if shared is None and assigned is None:
        return None
    offset = shared[3] if shared is not None else assigned[4] if assigned is not None else 0
    return str(key[1]), int(key[2] or 0), int(offset or 0)
