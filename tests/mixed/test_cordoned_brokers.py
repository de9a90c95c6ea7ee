"""Brokers of either kind that take no new replicas (KIP-1066), under controllers of either kind."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.cordon_kit import set_cordon
from tests.mixed.mixed_kit import KafkaNode, Kind, MixedCluster, PenstockNode
from tests.patience import wait_until

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]

PARTITIONS = 4
NUMBERS = count(1)


@pytest.mark.parametrize("controller", [KafkaNode, PenstockNode])
def test_a_cordoned_broker_is_left_out(tmp_path: Path, controller: Kind) -> None:
    with MixedCluster(tmp_path, {1: controller}, {2: KafkaNode, 3: PenstockNode}) as cluster:
        wait_until(lambda: spread(cluster) == {2, 3})
        for number, other in ((2, 3), (3, 2)):
            cordon(cluster, number, "*")
            wait_until(lambda other=other: spread(cluster) == {other})  # type: ignore[misc]
            cluster.node(other).kill()
            cluster.start(other)
            cluster.wait_unfenced()
            assert spread(cluster) == {other}
            cordon(cluster, number, None)
            wait_until(lambda: spread(cluster) == {2, 3})


def cordon(cluster: MixedCluster, number: int, value: str | None) -> None:
    set_cordon(cluster.brokers[number].bootstrap_servers, number, value)


def spread(cluster: MixedCluster) -> set[int]:
    """The brokers that the controller chooses for a new topic."""
    topic = f"t-{next(NUMBERS)}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    (made,) = admin.create_topics([NewTopic(topic, PARTITIONS, 1)]).values()
    made.result(60)

    def found() -> list[int]:
        described = admin.list_topics(topic, timeout=60).topics[topic].partitions.values()
        replicas = [number for each in described for number in each.replicas]
        return replicas if len(replicas) == PARTITIONS else []

    return set(wait_until(found))
