"""The times of records at given offsets, read from the log of whoever leads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast

from penstock.cli.group.state import Place
from penstock.cli.leader_call import (
    EARLIEST,
    READ_UNCOMMITTED,
    Address,
    Leaders,
    fetch,
    list_offsets,
)
from penstock.cli.operator.link import Link
from penstock.cli.wire_call import BrokerConnection, Unreachable
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.fetch import PartitionData
from penstock.records.header import Buffer, iter_batches
from penstock.records.time_search import time_at

_BYTES: Final = 8 << 20
_PARTITION_BYTES: Final = 64 << 10
"""Most batches are smaller. Larger ones are asked for alone: then they come whole."""

Spot = tuple[Place, int]
"""A partition and an offset."""


def read_times(link: Link, leaders: Leaders, spots: Iterable[Spot]) -> dict[Spot, int | None]:
    """Of the first record at or behind each offset; None if there is none up to the end, nothing
    but markers of transactions. What cannot be read, or has no time, is left out."""
    found: dict[Spot, int | None] = {}
    for address, meant in _by_leader(leaders, spots).items():
        try:
            with BrokerConnection(link.connect, *address) as connection:
                reader = _TimeReader(link, leaders, connection)
                for offsets in _rounds(meant):
                    found |= reader.read(offsets)
        except Unreachable:
            continue
    return {spot: at_ms for spot, at_ms in found.items() if at_ms is None or at_ms >= 0}


class _TimeReader:
    def __init__(self, link: Link, leaders: Leaders, connection: BrokerConnection) -> None:
        self._link = link
        self._leaders = leaders
        self._connection = connection

    def read(self, offsets: Mapping[Place, int]) -> dict[Spot, int | None]:
        answers = self._fetch(offsets, _BYTES, _PARTITION_BYTES)
        gone = [place for place, each in answers.items() if _is_gone(each)]
        starts = list_offsets(self._link, self._leaders, gone, EARLIEST) if gone else {}
        found: dict[Spot, int | None] = {}
        for place, offset in offsets.items():
            data = answers.get(place)
            at = starts.get(place, offset)
            if data is None or data.error_code or not data.records:
                data = self._fetch({place: at}, 1, 1).get(place)
            time_ms = None if data is None else first_time(data, at)
            if time_ms is not None or (data is not None and has_only_markers(data)):
                found[place, offset] = time_ms
        return found

    def _fetch(
        self, offsets: Mapping[Place, int], bytes_max: int, partition_bytes_max: int
    ) -> dict[Place, PartitionData]:
        return fetch(
            self._connection,
            offsets,
            bytes_max=bytes_max,
            partition_bytes_max=partition_bytes_max,
            isolation=READ_UNCOMMITTED,
        )


def _is_gone(data: PartitionData) -> bool:
    """Deleted by retention since it was committed."""
    return data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def first_time(data: PartitionData, offset: int) -> int | None:
    """Markers of transactions are no records: nobody waits for them."""
    if data.error_code or not data.records:
        return None
    try:
        with memoryview(cast("Buffer", data.records)) as view:
            for position, header in iter_batches(view, 0, len(view)):
                if header.last_offset >= offset and not header.is_control:
                    return time_at(bytes(view[position : position + header.size]), offset)
    except ApiError:
        pass
    return None


def has_only_markers(data: PartitionData) -> bool:
    """Of transactions, up to the end of the log."""
    if data.error_code or not data.records:
        return False
    with memoryview(cast("Buffer", data.records)) as view:
        headers = [header for _, header in iter_batches(view, 0, len(view))]
    if not headers or headers[-1].next_offset < data.high_watermark:
        return False
    return all(header.is_control for header in headers)


def _by_leader(leaders: Leaders, spots: Iterable[Spot]) -> dict[Address, list[Spot]]:
    grouped: dict[Address, list[Spot]] = {}
    for spot in spots:
        address = leaders.by_place.get(spot[0])
        if address is not None:
            grouped.setdefault(address, []).append(spot)
    return grouped


def _rounds(spots: Iterable[Spot]) -> Iterator[dict[Place, int]]:
    """A request names a partition once; several groups stand at several places of it."""
    left = list(dict.fromkeys(spots))
    while left:
        taken: dict[Place, int] = {}
        rest = []
        for place, offset in left:
            if place in taken:
                rest.append((place, offset))
            else:
                taken[place] = offset
        yield taken
        left = rest
