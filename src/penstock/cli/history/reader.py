"""Reads the brokers' past over Kafka's protocol. Apache Kafka keeps none: then there is none."""

from __future__ import annotations

from typing import Final

from penstock.cli.leader_call import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    Leaders,
    leaders_of,
    list_offsets,
    read_metadata,
)
from penstock.cli.operator.link import Link
from penstock.cli.partition_record import iter_partition
from penstock.cli.wire_call import BrokerConnection
from penstock.model.figures import Figures, decode_figures
from penstock.model.internal_topic import METRICS_TOPIC

NO_PAST: Final = (
    f"no past is kept: there is no topic {METRICS_TOPIC}, or no right to read it; on Penstock "
    "`penstock configs set broker all penstock.metrics.topic.enable=true` begins one"
)


class PastReader:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._leaders: Leaders = leaders_of(read_metadata(link, [METRICS_TOPIC]))

    @property
    def is_kept(self) -> bool:
        return bool(self._leaders.by_place)

    def read(self, partition: int, from_ms: int, until_ms: int | None = None) -> list[Figures]:
        """What ended between these times, in the order in which it was written."""
        place = (METRICS_TOPIC, partition)
        address = self._leaders.by_place.get(place)
        if address is None:
            return []
        first = self._offset(partition, from_ms)
        last = self._offset(partition, until_ms)
        with BrokerConnection(self._link.connect, *address) as connection:
            found = [
                decode_figures(record.value)
                for record in iter_partition(connection, place, first, last)
            ]
        return [
            each
            for each in found
            if each is not None
            and each.until_ms >= from_ms
            and (until_ms is None or each.until_ms <= until_ms)
        ]

    def _offset(self, partition: int, timestamp_ms: int | None) -> int:
        """Of the first record of that time; behind the last where there is none, or no time."""
        place = (METRICS_TOPIC, partition)
        if timestamp_ms is not None:
            at = EARLIEST if timestamp_ms <= 0 else timestamp_ms
            found = list_offsets(self._link, self._leaders, [place], at).get(place, -1)
            if found >= 0:
                return found
        end = list_offsets(self._link, self._leaders, [place], LATEST, READ_COMMITTED)
        return end.get(place, 0)
