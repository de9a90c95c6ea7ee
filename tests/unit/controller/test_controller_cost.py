"""What happens to a broker costs what it holds, not what there is."""

from __future__ import annotations

import time

from penstock.metadata import ClusterImage
from penstock.protocol.messages.records.partition_record import PartitionRecord
from penstock.protocol.messages.records.topic_record import TopicRecord
from tests.unit.controller.cluster_kit import Cluster

LED = 10_000
OTHERS = 40_000


def fill(image: ClusterImage, name: str, count: int, replicas: list[int]) -> None:
    topic_id = name.encode() * 16
    image.replay(TopicRecord(name=name, topic_id=topic_id), image.next_offset)
    for index in range(count):
        record = PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=replicas,
            isr=replicas,
            leader=replicas[0],
            leader_epoch=0,
            partition_epoch=0,
            directories=[image.brokers[one].log_dirs[0] for one in replicas],
        )
        image.replay(record, image.next_offset)


def test_the_death_of_a_leader_of_ten_thousand_partitions_is_decided_at_once() -> None:
    cluster = Cluster(5)
    fill(cluster.image, "l", LED, [1, 2, 3])
    fill(cluster.image, "o", OTHERS, [3, 4, 5])
    started = time.process_time()
    decision = cluster.shard.decide_fence_broker(1, cluster.epoch(1))
    assert time.process_time() - started < 1, "an order of magnitude over what it takes"
    for offset, record in enumerate(decision.records, cluster.image.next_offset):
        cluster.shard.replay(record, offset)
    assert {one.leader for one in cluster.topic("l").partitions.values()} == {2}
    assert {one.partition_epoch for one in cluster.topic("o").partitions.values()} == {0}


def test_a_cluster_of_one_keeps_no_index() -> None:
    cluster = Cluster(1)
    cluster.create("t", [1])
    cluster.fence(1)
    cluster.heartbeat(1)
    assert cluster.partition("t").leader == 1
    assert cluster.image.partition_watcher is None
    cluster.start(2)
    cluster.fence(2)
    assert cluster.image.partition_watcher is not None


def test_what_concerns_nobody_else_changes_nobody_else() -> None:
    cluster = Cluster(4)
    cluster.create("t", [1, 2], [3, 4])
    cluster.fence(1)
    assert [one.partition_epoch for one in cluster.topic("t").partitions.values()] == [1, 0]
