"""What the keeper of partitions does with settings that change."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.metadata.config import ConfigResource, ResourceType
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.metadata.topic import TopicImage
from penstock.model.error import ApiError, ErrorCode
from penstock.node.partition_keeper import PartitionKeeper
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig
from penstock.storage.log_dir import LogDir
from penstock.storage.log_dirs import LogDirs
from tests.unit.replication.replica_kit import image
from tests.unit.storage.storage_kit import FixedClock, batch

TOPIC_ID = bytes(15) + b"\x07"
TOPIC = ConfigResource(ResourceType.TOPIC, "t")


def test_more_replicas_are_asked_for_before_anybody_has_opened_the_log(tmp_path: Path) -> None:
    """A leader that was started anew, and whose followers are down."""
    cluster, config, clock = ClusterImage(), BrokerConfig(), FixedClock()
    topic = TopicImage("t", TOPIC_ID)
    topic.partitions[0] = image(leader=1, epoch=5, isr=(1,))
    cluster.topics.add(topic)
    partitions = PartitionSet(cluster)
    log_dirs = LogDirs([LogDir(str(tmp_path), clock, lambda key: keeper.log_config(key))])
    others = SimpleNamespace(
        broker_epoch=lambda: 1,
        is_in_touch=lambda: True,
        alter_isr=lambda partition, change: None,
        follow=lambda partition: None,
        unfollow=lambda partition: None,
        assign=lambda partition, directory_id: None,
    )
    keeper = PartitionKeeper(
        1,
        cluster,
        lambda: config,
        log_dirs,
        lambda log: log.flush(),
        partitions,
        clock,
        cast(Any, others),
    )
    log_dirs.open()
    try:
        keeper.adopt_image()
        cluster.configs.put(TOPIC, "min.insync.replicas", "2")
        keeper.apply(MetadataDelta(configs_changed={TOPIC}))
        partition = partitions.by_name("t", 0)
        assert not partition.is_open
        with pytest.raises(ApiError) as refused:
            partition.append(memoryview(batch(1)), clock.now_ms())
        assert refused.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    finally:
        log_dirs.close()
