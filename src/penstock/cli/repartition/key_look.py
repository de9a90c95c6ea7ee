"""Keys of a topic with the partitions they are in, by a look at its last records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from penstock.cli.hot.key_tally import sample_records
from penstock.cli.leader_call import leaders_of, read_metadata
from penstock.cli.operator.link import Link
from penstock.cli.operator.state import TopicPartition

_KEYS: Final = 200
"""Of each partition: enough to tell two ways apart."""


def placed_keys(link: Link, topic: str, ends: Mapping[int, int]) -> Iterator[tuple[int, bytes]]:
    leaders = leaders_of(read_metadata(link, [topic]))
    for partition, end in ends.items():
        place = TopicPartition(topic, partition)
        for each in sample_records(link, leaders, place, end, _KEYS):
            if each.key is not None:
                yield partition, each.key
