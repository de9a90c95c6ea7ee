"""What a broker did in an interval: the records of the topic of the brokers' past.

Each is one JSON object of version 1, written by a broker at the end of an interval to partition
MINUTES, and summed up at the end of an hour to partition HOURS. They are made, read and added up
here. A field that is not known is passed over, so that newer brokers may write more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

MINUTES: Final = 0
HOURS: Final = 1
"""Partitions of the topic."""
HOUR_MS: Final = 3_600_000
VERSION: Final = 1
TOPICS_MAX: Final = 200
CLIENTS_MAX: Final = 200
GROUPS_MAX: Final = 200
"""In one record: those with the most traffic, and the groups furthest behind."""


class TopicFigures(NamedTuple):
    topic: str
    bytes_in: int
    records_in: int


class ClientFigures(NamedTuple):
    """Who wrote how much to a topic."""

    topic: str
    user: str
    client_id: str
    bytes_in: int


class ThrottleFigures(NamedTuple):
    user: str
    client_id: str
    kind: str
    """`produce`, `fetch` or `request`."""
    wait_ms: float
    """Average of the last minute."""


class DiskFigures(NamedTuple):
    path: str
    used_bytes: int
    total_bytes: int


class GroupFigures(NamedTuple):
    """One topic of one group, told by its coordinator."""

    group: str
    topic: str
    lag: int
    """Records, at the end."""
    lag_s: float
    consumed: int | None
    """Records; None where offsets were set back, or partitions added."""
    produced: int | None
    members: int
    rebalances: int


@dataclass(frozen=True, slots=True)
class Figures:
    broker: int
    from_ms: int
    until_ms: int
    bytes_in: int = 0
    bytes_out: int = 0
    records_in: int = 0
    requests: int = 0
    errors: int = 0
    idle: float = 1.0
    """Share of the time in which the event loop had nothing to do."""
    flushes: int = 0
    flush_s: float = 0.0
    flush_max_s: float = 0.0
    """The longest was no longer than this."""
    produces: int = 0
    produce_s: float = 0.0
    """From the arrival of produce requests to their answers, of all of them together."""
    disks: tuple[DiskFigures, ...] = ()
    topics: tuple[TopicFigures, ...] = ()
    clients: tuple[ClientFigures, ...] = ()
    throttled: tuple[ThrottleFigures, ...] = ()
    groups: tuple[GroupFigures, ...] = ()

    @property
    def seconds(self) -> float:
        return max(self.until_ms - self.from_ms, 1) / 1000

    @property
    def hour_ms(self) -> int:
        """When the hour began in which most of it was: an interval ends a little late."""
        return (self.from_ms + self.until_ms) // 2 // HOUR_MS * HOUR_MS


_ROWS: Final = {
    "disks": DiskFigures,
    "topics": TopicFigures,
    "clients": ClientFigures,
    "throttled": ThrottleFigures,
    "groups": GroupFigures,
}
_PLAIN: Final = tuple(name for name in Figures.__dataclass_fields__ if name not in _ROWS)


def encode_figures(figures: Figures) -> bytes:
    document: dict[str, Any] = {"v": VERSION}
    for name in _PLAIN:
        value = getattr(figures, name)
        document[name] = round(value, 4) if isinstance(value, float) else value
    for name in _ROWS:
        document[name] = getattr(figures, name)
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def decode_figures(value: bytes | None) -> Figures | None:
    """None of what is not ours, or of a version that changed the meaning of fields."""
    try:
        document = json.loads(value or b"")
        if document["v"] != VERSION:
            return None
        known = {name: document[name] for name in _PLAIN if name in document}
        for name, row in _ROWS.items():
            width = len(row._fields)  # type: ignore[attr-defined]
            known[name] = tuple(row(*each[:width]) for each in document.get(name, ()))
        return Figures(**known)
    except (ValueError, KeyError, TypeError):
        return None


def sum_figures(parts: Iterable[Figures]) -> Figures | None:
    """Of one broker, in the order of time. Lags and disks are those of the last that tells."""
    total: Figures | None = None
    for each in parts:
        total = each if total is None else add_figures(total, each)
    return total


def add_figures(one: Figures, other: Figures) -> Figures:
    seconds = one.seconds + other.seconds
    return replace(
        other,
        from_ms=min(one.from_ms, other.from_ms),
        until_ms=max(one.until_ms, other.until_ms),
        **{name: getattr(one, name) + getattr(other, name) for name in _SUMMED},
        idle=(one.idle * one.seconds + other.idle * other.seconds) / seconds,
        flush_max_s=max(one.flush_max_s, other.flush_max_s),
        disks=other.disks or one.disks,
        topics=_topics((*one.topics, *other.topics)),
        clients=_clients((*one.clients, *other.clients)),
        throttled=_throttled((*one.throttled, *other.throttled)),
        groups=_groups(one.groups, other.groups),
    )


_SUMMED: Final = (
    "bytes_in",
    "bytes_out",
    "records_in",
    "requests",
    "errors",
    "flushes",
    "flush_s",
    "produces",
    "produce_s",
)


def _topics(rows: Iterable[TopicFigures]) -> tuple[TopicFigures, ...]:
    sums: dict[str, tuple[int, int]] = {}
    for each in rows:
        known = sums.get(each.topic, (0, 0))
        sums[each.topic] = (known[0] + each.bytes_in, known[1] + each.records_in)
    return top_topics(TopicFigures(name, *both) for name, both in sums.items())


def _clients(rows: Iterable[ClientFigures]) -> tuple[ClientFigures, ...]:
    sums: dict[tuple[str, str, str], int] = {}
    for each in rows:
        sums[each[:3]] = sums.get(each[:3], 0) + each.bytes_in
    return top_clients(ClientFigures(*who, size) for who, size in sums.items())


def _throttled(rows: Iterable[ThrottleFigures]) -> tuple[ThrottleFigures, ...]:
    worst: dict[tuple[str, str, str], float] = {}
    for each in rows:
        worst[each[:3]] = max(worst.get(each[:3], 0.0), each.wait_ms)
    return tuple(ThrottleFigures(*who, wait_ms) for who, wait_ms in worst.items())[:CLIENTS_MAX]


def _groups(
    earlier: Iterable[GroupFigures], later: Iterable[GroupFigures]
) -> tuple[GroupFigures, ...]:
    found = {each[:2]: each for each in earlier}
    for each in later:
        known = found.get(each[:2])
        if known is not None:
            each = each._replace(
                consumed=_sum(known.consumed, each.consumed),
                produced=_sum(known.produced, each.produced),
                rebalances=known.rebalances + each.rebalances,
            )
        found[each[:2]] = each
    return top_groups(found.values())


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)


def top_topics(rows: Iterable[TopicFigures]) -> tuple[TopicFigures, ...]:
    return tuple(sorted(rows, key=lambda each: (-each.bytes_in, each.topic))[:TOPICS_MAX])


def top_clients(rows: Iterable[ClientFigures]) -> tuple[ClientFigures, ...]:
    return tuple(sorted(rows, key=lambda each: (-each.bytes_in, each[:3]))[:CLIENTS_MAX])


def top_groups(rows: Iterable[GroupFigures]) -> tuple[GroupFigures, ...]:
    def key(each: GroupFigures) -> tuple[float, int, str, str]:
        return -each.lag_s, -(each.consumed or 0), each.group, each.topic

    return tuple(sorted(rows, key=key)[:GROUPS_MAX])
