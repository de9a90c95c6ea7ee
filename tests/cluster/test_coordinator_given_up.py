"""A group's coordinator dies and is not listed any more: transactions go on with the next one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.client.steady import STEADY, STEADY_TRANSACTIONS
from penstock.testing.cluster import Cluster
from tests.patience import wait_until

pytestmark = pytest.mark.skipif(
    not os.environ.get("PENSTOCK_CLUSTERS"), reason="`make clusters` runs it"
)
PATIENCE_S = 60.0


def test_offsets_of_a_transaction_find_the_next_coordinator(tmp_path: Path) -> None:
    settings = {"offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1}
    with Cluster(tmp_path / "nodes", 3, settings) as nodes:
        nodes.create_topic("copied", partitions=1)
        client = {"bootstrap.servers": nodes.bootstrap_servers}
        reader = Consumer(client | STEADY | {"group.id": "copier"})
        producer = Producer(client | STEADY_TRANSACTIONS | {"transactional.id": "copier"})
        producer.init_transactions(PATIENCE_S)

        def copy(offset: int) -> None:
            producer.begin_transaction()
            place = TopicPartition("copied", 0, offset)
            group = reader.consumer_group_metadata()
            producer.send_offsets_to_transaction([place], group, PATIENCE_S)
            producer.produce("copied", b"%d" % offset)
            producer.commit_transaction(PATIENCE_S)

        copy(1)
        coordinator = nodes.leader("__consumer_offsets", 0)
        nodes.kill(coordinator)
        wait_until(
            lambda: coordinator not in producer.list_topics(timeout=10).brokers,
            patience_s=PATIENCE_S,
        )
        copy(2)
        copy(3)
        (place,) = reader.committed([TopicPartition("copied", 0)], timeout=PATIENCE_S)
        assert place.offset == 3
        reader.close()
