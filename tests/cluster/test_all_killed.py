"""All nodes killed at once, as by a power failure, and started again: nobody waits for sessions."""

from __future__ import annotations

from pathlib import Path

from penstock.testing.cluster import Cluster

SESSION_MS = 600_000
"""Longer than a start may take: a node that had to wait for the end of one would not come up."""


def test_every_node_knows_that_its_earlier_life_is_over(tmp_path: Path) -> None:
    settings = {
        "broker.session.timeout.ms": SESSION_MS,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.num.partitions": 1,
    }
    with Cluster(tmp_path / "nodes", 3, settings) as nodes:
        nodes.create_topic("kept", partitions=3)
        nodes.produce("kept", ["before"])
        nodes.kill_all()
        nodes.start_all()
        nodes.produce("kept", ["after"])
        assert [each.value for each in nodes.read("kept")].count(b"before") == 1
        nodes.wait_in_sync()
