"""An operator's moves of partitions between three nodes, as slow as they were told to be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from penstock.model.id import TopicPartition
from penstock.testing.cluster import Cluster as ThreeNodes
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

RECORD = b"x" * 10_000
RECORDS = 400


@pytest.fixture
def nodes(cluster: Cluster) -> ThreeNodes:
    assert cluster.nodes is not None
    return cluster.nodes


@pytest.fixture
def operator(nodes: ThreeNodes) -> Callable[..., Any]:
    """Runs `penstock`: what it printed, as JSON."""

    def run(*words: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "penstock.cli.main", *words, "--json"],
            env=os.environ | {"PENSTOCK_BOOTSTRAP_SERVERS": nodes.bootstrap_servers},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def throttles(operator: Callable[..., Any]) -> list[str]:
    settings = [each["settings"] for each in operator("configs", "list")]
    return [key for each in settings for key in each if "throttled" in key]


def test_a_slow_move_goes_on_and_a_quick_one_ends(
    nodes: ThreeNodes, operator: Callable[..., Any], topic_name: str
) -> None:
    nodes.create_topic(topic_name, replication_factor=2)
    nodes.produce(topic_name, [RECORD] * RECORDS)
    where = TopicPartition(topic_name, 0)
    before = nodes.partitions()[where].replicas
    (new,) = set(nodes.nodes) - set(before)
    log = nodes.nodes[new].data_dir / f"{topic_name}-0" / f"{0:020}.log"

    def copied_bytes() -> int:
        return log.stat().st_size if log.exists() else 0

    move = ["partitions", "move", f"{topic_name}:0", "--to", f"{new},{before[1]}", "--yes"]
    operator(*move, "--throttle", "1K")
    assert len(throttles(operator)) == 8
    wait_until(lambda: copied_bytes() > 0)
    # At that rate the second fetch comes after a quarter of an hour.
    assert copied_bytes() < len(RECORD) * RECORDS / 2
    assert [each["topic"] for each in operator("partitions", "moves")] == [topic_name]
    assert operator("partitions", "cancel", topic_name)
    assert throttles(operator) == []
    wait_until(lambda: set(nodes.partitions()[where].replicas) == set(before))

    done = operator(*move, "--throttle", "500M", "--wait")
    assert done["outcome"] == "done"
    assert nodes.partitions()[where].replicas == (new, before[1])
    assert throttles(operator) == []
    nodes.wait_in_sync()
    assert copied_bytes() > len(RECORD) * RECORDS
