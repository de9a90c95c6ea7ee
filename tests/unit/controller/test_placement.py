"""Where new partitions go: evenly over brokers, and over racks from one partition to the next."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.controller.placement import place_partitions
from penstock.metadata.broker import BrokerImage
from penstock.metadata.image import ClusterImage
from penstock.model.id import TopicId

TOPIC_IDS = [TopicId(bytes([0, 0, 0, number]) + bytes(12)) for number in range(12)]


def cluster(racks: str) -> ClusterImage:
    """Brokers 1, 2, ... in the racks that the letters name."""
    image = ClusterImage()
    for broker_id, rack in enumerate(racks, 1):
        image.brokers[broker_id] = BrokerImage(broker_id, 1, bytes(16), (), rack=rack, fenced=False)
    return image


@pytest.mark.parametrize("racks", ["aabbcc", "abcabc", "aabbccaabbcc", "acbbca"])
def test_leaders_of_neighbouring_partitions_are_in_different_racks(racks: str) -> None:
    image = cluster(racks)
    for topic_id in TOPIC_IDS:
        leaders = [replicas[0] for replicas in place_partitions(image, topic_id, range(30), 2)]
        where = [racks[leader - 1] for leader in leaders]
        assert all(len(set(where[at : at + 3])) == 3 for at in range(28)), where


@pytest.mark.parametrize("replication_factor", [1, 2, 3])
@pytest.mark.parametrize("racks", ["aabbcc", "abcabc", "aaabbbccc"])
def test_brokers_have_about_as_many_replicas_as_the_others(
    racks: str, replication_factor: int
) -> None:
    image = cluster(racks)
    for topic_id in TOPIC_IDS:
        placed = place_partitions(image, topic_id, range(6 * len(racks)), replication_factor)
        counts = Counter(broker for replicas in placed for broker in replicas)
        assert len(counts) == len(racks)
        assert max(counts.values()) <= 1.25 * min(counts.values()), counts


def test_brokers_of_a_small_rack_lead_no_more_than_others() -> None:
    image = cluster("aaab")
    leaders = Counter(
        replicas[0] for replicas in place_partitions(image, TOPIC_IDS[3], range(8), 2)
    )
    assert leaders == {1: 2, 2: 2, 3: 2, 4: 2}
