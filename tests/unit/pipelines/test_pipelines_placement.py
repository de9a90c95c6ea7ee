"""How producers place keys, told from where keys are found."""

from __future__ import annotations

from collections.abc import Collection

from penstock.pipelines.keyed.partitioner import Partitioner, crc32, murmur2
from penstock.pipelines.keyed.placement import shown_by, ways_of

KEYS = [b"k%d" % each for each in range(20)]


def placed(place: Partitioner, count: int, first: int = 0) -> dict[int, Collection[bytes]]:
    """The keys by partition, from that partition on."""
    return {n: [key for key in KEYS if place(key, count) == n] for n in range(first, count)}


def test_states_of_several_partitions_tell_it_alone() -> None:
    for place in (murmur2, crc32):
        assert ways_of(placed(place, 2), 2, 3) == (place,)
    assert ways_of({0: KEYS[:10], 1: KEYS}, 2, 3) == ()


def test_states_of_one_partition_tell_it_with_keys_of_the_new_ones() -> None:
    ways = ways_of({0: KEYS}, 1, 3)
    assert ways == (murmur2, crc32)
    for place in ways:
        assert shown_by(placed(place, 3, 1), 3) == (place,)
    assert shown_by({1: [], 2: []}, 3) == ways
    assert shown_by({1: KEYS, 2: KEYS}, 3) == ()


def test_where_both_ways_come_to_the_same_it_need_not_be_told() -> None:
    alike = [key for key in KEYS if murmur2(key, 3) == crc32(key, 3)]
    assert 0 < len(alike) < len(KEYS)
    assert ways_of({0: alike}, 1, 3) == (murmur2,)
    assert ways_of({0: []}, 1, 3) == (murmur2,)


def test_a_topic_that_grew_in_steps_holds_keys_of_each() -> None:
    newest = placed(crc32, 4, 1)
    newest[1] = [*newest[1], *placed(crc32, 2)[1]]
    assert shown_by(newest, 4) == (crc32,)
