"""How the groups of a drill stand, over Kafka's protocol."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.cli.drill.flag import Seen
from penstock.cli.drill.stage import Service
from penstock.cli.group.reader import ClusterReader
from penstock.cli.group.state import GroupLag
from penstock.cli.operator.link import Link


def look(link: Link, services: Iterable[Service]) -> dict[str, Seen]:
    """Of those whose group there is."""
    by_group = {each.name: each for each in services}
    with ClusterReader(link) as reader:
        found = [each for each in reader.listed() if each.name in by_group]
        lags = reader.lags(reader.described(found))
        topics = reader.topics
    return {each.group.name: _seen(each, topics, by_group[each.group.name]) for each in lags}


def _seen(lag: GroupLag, topics: dict[str, int], service: Service) -> Seen:
    return Seen(
        lag.records,
        lag.seconds or 0.0,
        frozenset(each.member_id for each in lag.group.members),
        topics.get(service.topic, 0),
        sum(each.committed or 0 for each in lag.partitions),
        # Counted after the offsets were read: what is committed has been dealt with.
        service.dealt,
    )
