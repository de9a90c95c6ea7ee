"""How far share groups are, asked of their coordinators: of those that may have moved.

A group moves while it has members, and until the locks of those that left have run out. One that
was given another place tells so in the log of groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from penstock.cli.catalog.declaration import (
    PARTITION_LAG,
    SHARE_GROUP,
    SHARE_PARTITION,
    CatalogTable,
    Row,
    Rows,
)
from penstock.cli.operator.link import Link

if TYPE_CHECKING:
    from penstock.cli.group.state import GroupLag

_SETTLING_S: Final = 120.0


class ShareProgress:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._until_s: dict[str, float] = {}

    def renew(
        self, tables: Mapping[CatalogTable, Rows], changed: Iterable[str], now_s: float
    ) -> None:
        """Change rows of SharePartition in place, and make and drop those of PartitionLag."""
        self._until_s |= dict.fromkeys(changed, now_s + _SETTLING_S)
        self._until_s = {name: at for name, at in self._until_s.items() if at > now_s}
        wanted = {
            str(group)
            for group, _, members in tables[SHARE_GROUP].values()
            if members or group in self._until_s
        }
        if not wanted:
            return
        # What asks groups is loaded where there are some.
        from penstock.cli.group.reader import ClusterReader

        with ClusterReader(self._link) as reader:
            groups = [each for each in reader.listed("share") if each.name in wanted]
            for found in reader.lags(groups, times=False, starts=False):
                _replace(tables, found)


def share_rows(found: GroupLag) -> Rows:
    """Of SharePartition."""
    rows: Rows = {}
    for each in found.partitions:
        if each.committed is not None and each.done is not None:
            key: Row = (found.group.name, *each.place)
            rows[key] = (*key, each.committed, max(each.done - each.committed, 0))
    return rows


def _replace(tables: Mapping[CatalogTable, Rows], found: GroupLag) -> None:
    places, lags, rows = tables[SHARE_PARTITION], tables[PARTITION_LAG], share_rows(found)
    for gone in [each for each in places if each[0] == found.group.name and each not in rows]:
        del places[gone]
        lags.pop(gone, None)
    places.update(rows)
    for key in rows:
        lags.setdefault(key, (*key, None, None, None, None))
