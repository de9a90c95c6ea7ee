"""How far groups are behind: in records, and in seconds by the time stamps of the log.

The age of the oldest record that a group has not read is that of the record at its committed
offset. Its time is read from the log once, and remembered until the group commits again: a group
that stands still costs nothing but the arithmetic.
"""

from __future__ import annotations

from penstock.cli.catalog.declaration import Row, Rows
from penstock.cli.group.record_time import read_times
from penstock.cli.leader_call import LATEST, Leaders, list_offsets
from penstock.cli.operator.link import Link

Spot = tuple[str, int, int]
"""Topic, partition, offset."""


class LagReader:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._times: dict[Spot, int | None] = {}
        """None where only markers of transactions are left, which is asked for each time."""

    def renew(self, lags: Rows, places: Rows, leaders: Leaders, now_ms: int) -> None:
        """Change rows of PartitionLag in place, by offsets of PartitionAssignment."""
        wanted = {(str(key[1]), int(key[2] or 0)) for key in lags}
        ends = list_offsets(self._link, leaders, wanted, LATEST)
        spots = {key: _spot(key, places) for key in lags}
        behind = {
            spot for spot in spots.values() if spot is not None and spot[2] < ends.get(spot[:2], 0)
        }
        self._times = {
            spot: time_ms
            for spot, time_ms in self._times.items()
            if spot in behind and time_ms is not None
        }
        new = [((topic, part), offset) for topic, part, offset in behind - set(self._times)]
        read = read_times(self._link, leaders, new)
        self._times |= {(*place, offset): time for (place, offset), time in read.items()}
        for key, spot in spots.items():
            if spot is not None and spot[:2] in ends:
                lags[key] = self._lag_row(lags[key], spot, ends[spot[:2]], now_ms)

    def _lag_row(self, row: Row, spot: Spot, end: int, now_ms: int) -> Row:
        time_ms = self._times.get(spot)
        seconds: float | None = None
        if spot[2] >= end or (spot in self._times and time_ms is None):
            seconds = 0.0
        elif time_ms is not None:
            seconds = max(now_ms - time_ms, 0) / 1000
        return (*row[:4], end, max(end - spot[2], 0), seconds)


def _spot(key: Row, places: Rows) -> Spot | None:
    row = places.get(key)
    return None if row is None else (str(key[1]), int(key[2] or 0), int(row[4] or 0))
