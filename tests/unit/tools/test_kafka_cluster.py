"""Three nodes of Apache Kafka with voters in their settings: one cluster, also without one node."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from tools.brief_kafka import brief_cluster


@pytest.mark.java
def test_three_nodes_are_one_cluster(tmp_path: Path) -> None:
    with brief_cluster(tmp_path / "kafka", 3) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})

        def brokers() -> dict[int, int]:
            found = admin.list_topics(timeout=30).brokers.values()
            return {each.id: each.port for each in found}

        deadline = time.monotonic() + 60
        ports = {number: node.port for number, node in cluster.nodes.items()}
        while brokers() != ports:
            assert time.monotonic() < deadline
        cluster.stop(2)
        while brokers().keys() != {1, 3}:
            assert time.monotonic() < deadline
    assert not [node for node in cluster.nodes.values() if node.running]
