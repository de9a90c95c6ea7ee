"""The catalog's tables as the cluster is now, asked for when a statement names them.

Prints nothing, keeps nothing. When a group last committed is not told by brokers, and stays null.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from penstock.cli.catalog.declaration import (
    CLASSIC,
    CONSUMER,
    CONSUMER_GROUP,
    DEFAULT_PROTOCOL,
    GROUP_MEMBER,
    OF_GROUPS,
    PARTITION_ASSIGNMENT,
    PARTITION_LAG,
    SHARE,
    SHARE_GROUP,
    SHARE_PARTITION,
    CatalogTable,
    Rows,
)
from penstock.cli.catalog.share_progress import share_rows
from penstock.cli.operator.link import Link

if TYPE_CHECKING:
    from penstock.cli.group.state import Group, GroupLag

_OF_PARTITIONS: Final = (PARTITION_ASSIGNMENT, SHARE_PARTITION, PARTITION_LAG)


def read_live(link: Link, wanted: Collection[CatalogTable]) -> dict[CatalogTable, Rows]:
    tables: dict[CatalogTable, Rows] = {each: {} for each in wanted}
    if not set(wanted) <= set(OF_GROUPS):
        from penstock.cli.catalog.metadata import MetadataReader

        tables |= MetadataReader(link).look().tables
    if not set(wanted).isdisjoint(OF_GROUPS):
        tables |= _read_groups(link, wanted)
    return {each: tables[each] for each in wanted}


def _read_groups(link: Link, wanted: Collection[CatalogTable]) -> dict[CatalogTable, Rows]:
    from penstock.cli.group.reader import ClusterReader

    with ClusterReader(link) as reader:
        groups = reader.described(reader.listed())
        tables = _group_rows(groups)
        if not set(wanted).isdisjoint(_OF_PARTITIONS):
            tables |= _partition_rows(reader.lags(groups, times=PARTITION_LAG in wanted))
    return tables


def _group_rows(groups: Collection[Group]) -> dict[CatalogTable, Rows]:
    return {
        CONSUMER_GROUP: {
            (each.name,): (each.name, each.assignor or DEFAULT_PROTOCOL)
            for each in groups
            if not each.is_share
        },
        SHARE_GROUP: {
            (each.name,): (each.name, each.state, len(each.members))
            for each in groups
            if each.is_share
        },
        GROUP_MEMBER: {
            (each.name, member.member_id): (
                each.name,
                member.member_id,
                member.client_id,
                member.host,
                each.protocol if each.protocol in (CLASSIC, SHARE) else CONSUMER,
            )
            for each in groups
            for member in each.members
        },
    }


def _partition_rows(lags: Collection[GroupLag]) -> dict[CatalogTable, Rows]:
    places: Rows = {}
    shared: Rows = {}
    behind: Rows = {}
    for group in lags:
        if group.group.is_share:
            shared |= share_rows(group)
        for each in group.partitions:
            key = (group.group.name, *each.place)
            # Members of share groups take records, not partitions: there is nothing to assign.
            if not group.group.is_share:
                owner = each.owners[0].member_id if each.owners else None
                places[key] = (*key, owner, each.committed or 0)
            if each.committed is not None:
                lag = None if each.lag is None else max(each.lag, 0)
                behind[key] = (*key, None, each.end, lag, each.lag_s(group.now_ms))
    return {PARTITION_ASSIGNMENT: places, SHARE_PARTITION: shared, PARTITION_LAG: behind}
