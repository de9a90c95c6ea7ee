"""The pytest plugin's cluster, used the way a user's tests use it."""

from __future__ import annotations

import os

import pytest

from penstock.model.id import TopicPartition
from penstock.testing import Cluster

ORDERS = TopicPartition("orders", 0)


def test_records_survive_their_leader(penstock_cluster: Cluster) -> None:
    penstock_cluster.create_topic("orders")
    penstock_cluster.produce("orders", ["before"])
    leader = penstock_cluster.leader("orders", 0)
    penstock_cluster.kill(leader)
    assert leader not in penstock_cluster.running
    penstock_cluster.produce("orders", ["after"], timeout_s=30)
    assert penstock_cluster.leader("orders", 0) != leader
    values = [each.value for each in penstock_cluster.read("orders", count=2, timeout_s=30)]
    assert values == [b"before", b"after"]
    penstock_cluster.start(leader)
    penstock_cluster.wait_in_sync()
    assert set(penstock_cluster.partitions(leader)[ORDERS].in_sync) == {1, 2, 3}


@pytest.mark.penstock(nodes=2, settings={"num.partitions": 4}, racks=["a", "b"])
def test_the_mark_says_what_it_is(penstock_cluster: Cluster) -> None:
    assert penstock_cluster.running == [1, 2]
    assert [each.settings["broker.rack"] for each in penstock_cluster.nodes.values()] == ["a", "b"]
    assert {each.settings["num.partitions"] for each in penstock_cluster.nodes.values()} == {"4"}
    penstock_cluster.create_topic("orders", partitions=-1)
    partitions = penstock_cluster.partitions()
    assert len(partitions) == 4
    assert {len(each.replicas) for each in partitions.values()} == {2}


_pids: list[int] = []


@pytest.mark.penstock(nodes=1)
def test_it_runs_until_the_test_ends(penstock_cluster: Cluster) -> None:
    _pids.extend(each.pid for each in penstock_cluster.nodes.values())
    assert all(_runs(each) for each in _pids)


def test_and_not_longer() -> None:
    assert _pids and not any(_runs(each) for each in _pids)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
