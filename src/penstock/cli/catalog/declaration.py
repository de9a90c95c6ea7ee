"""The tables of the catalog, declared once: for a database that is kept up to date, and for
questions to the live cluster. Pure values; `store` and `query.live` make tables of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
SHARE: Final = "share"
DEFAULT_PROTOCOL: Final = "range"
"""Of a group that never told its assignor."""

Value = str | int | float | bool | None
Row = tuple[Value, ...]
"""In the order of the table's columns, without those that the database fills in."""
Rows = dict[Row, Row]
"""By key."""


class Column(NamedTuple):
    name: str
    type: str
    """integer, bigint, real, boolean or text."""
    nullable: bool = False
    default: int | str | None = None


@dataclass(frozen=True, slots=True)
class CatalogTable:
    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """What tells its rows apart."""
    has_id: bool = False
    """Whether the primary key is a number of the database's own, and `key` is unique beside it."""

    def key_of(self, row: Row) -> Row:
        return row[: len(self.key)]

    def name_at(self, index: int) -> str:
        return self.columns[index].name


def _text(name: str, *, nullable: bool = False, default: str | None = None) -> Column:
    return Column(name, "text", nullable, default)


def _number(name: str, *, nullable: bool = False, default: int | None = None) -> Column:
    return Column(name, "bigint", nullable, default)


TOPIC: Final = CatalogTable(
    "Topic",
    (
        _text("name"),
        Column("partition_count", "integer", default=3),
        Column("replication_factor", "integer", default=3),
        _number("retention_ms", default=604_800_000),
    ),
    key=("name",),
    has_id=True,
)
CONSUMER_GROUP: Final = CatalogTable(
    "ConsumerGroup",
    (_text("group_id"), _text("protocol", default="range")),
    key=("group_id",),
    has_id=True,
)
PARTITION_ASSIGNMENT: Final = CatalogTable(
    "PartitionAssignment",
    (
        _text("group_id"),
        _text("topic"),
        Column("partition", "integer"),
        _text("consumer_id", nullable=True),
        _number("offset", default=0),
    ),
    key=("group_id", "topic", "partition"),
)
BROKER: Final = CatalogTable(
    "Broker",
    (
        Column("broker_id", "integer"),
        _text("host"),
        Column("port", "integer"),
        _text("rack", nullable=True),
        Column("is_fenced", "boolean"),
    ),
    key=("broker_id",),
)
REPLICA: Final = CatalogTable(
    "Replica",
    (
        _text("topic"),
        Column("partition", "integer"),
        Column("broker_id", "integer"),
        Column("is_leader", "boolean"),
        Column("is_in_sync", "boolean"),
        Column("is_preferred", "boolean"),
    ),
    key=("topic", "partition", "broker_id"),
)
TOPIC_SETTING: Final = CatalogTable(
    "TopicSetting",
    (_text("topic"), _text("name"), _text("value", nullable=True)),
    key=("topic", "name"),
)
TOPIC_OWNER: Final = CatalogTable(
    "TopicOwner",
    (_text("topic"), _text("tenant"), _text("owner")),
    key=("topic",),
)
GROUP_MEMBER: Final = CatalogTable(
    "GroupMember",
    (
        _text("group_id"),
        _text("consumer_id"),
        _text("client_id"),
        _text("host"),
        _text("group_type"),
    ),
    key=("group_id", "consumer_id"),
)
SHARE_GROUP: Final = CatalogTable(
    "ShareGroup",
    (_text("group_id"), _text("state"), Column("member_count", "integer")),
    key=("group_id",),
)
SHARE_PARTITION: Final = CatalogTable(
    "SharePartition",
    (
        _text("group_id"),
        _text("topic"),
        Column("partition", "integer"),
        _number("start_offset"),
        _number("done_count"),
    ),
    key=("group_id", "topic", "partition"),
)
PARTITION_LAG: Final = CatalogTable(
    "PartitionLag",
    (
        _text("group_id"),
        _text("topic"),
        Column("partition", "integer"),
        _number("committed_ms", nullable=True),
        _number("end_offset", nullable=True),
        _number("lag", nullable=True),
        Column("lag_seconds", "real", nullable=True),
    ),
    key=("group_id", "topic", "partition"),
)
SLA: Final = CatalogTable(
    "Sla",
    (_text("kind"), _text("name"), Column("lag_seconds_max", "real")),
    key=("kind", "name"),
)

TABLES: Final = (
    TOPIC,
    CONSUMER_GROUP,
    PARTITION_ASSIGNMENT,
    BROKER,
    REPLICA,
    TOPIC_SETTING,
    TOPIC_OWNER,
    GROUP_MEMBER,
    SHARE_GROUP,
    SHARE_PARTITION,
    PARTITION_LAG,
    SLA,
)
OF_GROUPS: Final = (
    CONSUMER_GROUP,
    PARTITION_ASSIGNMENT,
    GROUP_MEMBER,
    SHARE_GROUP,
    SHARE_PARTITION,
    PARTITION_LAG,
)
"""What the log of groups tells; the rest is metadata."""

POSITION: Final = CatalogTable(
    "CatalogPosition",
    (Column("partition", "integer"), _number("next_offset")),
    key=("partition",),
)
"""How far `__consumer_offsets` has been read."""
STATE: Final = CatalogTable("CatalogState", (_text("name"), _text("value")), key=("name",))
"""Whose catalog this is, and since when it has not been written to."""
KEPT: Final = (*TABLES, POSITION, STATE)


class Change(NamedTuple):
    table: CatalogTable
    inserted: list[Row]
    updated: list[Row]
    deleted: list[Row]
    """Keys."""


def differences(
    known: Mapping[CatalogTable, Rows], wanted: Mapping[CatalogTable, Rows]
) -> Iterator[Change]:
    """What has to be written so that a database with the first has the second."""
    for table in KEPT:
        before, after = known.get(table, {}), wanted.get(table, {})
        inserted = [row for key, row in after.items() if key not in before]
        updated = [row for key, row in after.items() if key in before and before[key] != row]
        deleted = [key for key in before if key not in after]
        if inserted or updated or deleted:
            yield Change(table, inserted, updated, deleted)
