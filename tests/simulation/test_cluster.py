"""Several nodes of one cluster in virtual time: what was acknowledged is there on every replica.

A failing seed fails again: `make simulate SEEDS=17`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from penstock.model.id import TopicPartition
from penstock.protocol.messages.metadata import MetadataRequest
from penstock.storage.disk import read_whole
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.host import DATA_DIR
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_chaos import Plan, Run
from tests.simulation.cluster_checker import Violation
from tests.simulation.cluster_kit import ClusterClient
from tests.simulation.cluster_moves import RunWithMoves
from tests.simulation.cluster_planted import PLANTED, planted

SEEDS_DEFAULT = "1-12"
NAMES = ("a", "b", "c")
WHERE = TopicPartition("t", 0)


@contextmanager
def started(seed: int) -> Iterator[tuple[SimulatedCluster, ClusterClient]]:
    with SimulatedCluster(seed, build=build_member) as cluster:
        add_members(cluster, NAMES)
        cluster.start(*NAMES)
        client = ClusterClient(cluster, NAMES)
        cluster.run(client.create(WHERE.topic, 1, min_insync_replicas="2"))
        cluster.run(client.wait_in_sync([WHERE]))
        yield cluster, client


def read(cluster: SimulatedCluster, client: ClusterClient) -> list[bytes | None]:
    return [record.value for record in cluster.run(client.read_all(WHERE))]


def test_what_was_acknowledged_survives_the_power_failure_of_every_node_at_once() -> None:
    with started(1) as (cluster, client):
        contents = [b"%d" % number for number in range(20)]

        async def write() -> None:
            for number, content in enumerate(contents):
                assert await client.send(WHERE, content) == number

        cluster.run(write())
        for name in NAMES:
            cluster.crash(name)
        cluster.start(*NAMES)
        assert read(cluster, client) == contents


def test_a_dead_leader_is_followed_by_another() -> None:
    with started(2) as (cluster, client):
        cluster.run(client.send(WHERE, b"before"))
        leader = cluster.run(client.leader(WHERE)).leader_id
        cluster.kill(NAMES[leader - 1])
        assert read(cluster, client) == [b"before"]
        client.forget_leader(WHERE)
        cluster.run(client.send_until_taken(WHERE, b"after"), 10)
        assert read(cluster, client) == [b"before", b"after"]
        assert cluster.run(client.leader(WHERE)).leader_id != leader


# A request whose connection breaks before its turn has come is never begun.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_chaos(seed: int) -> None:
    Run(Plan.of(seed)).run()


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_chaos_while_replicas_move(cluster_seed: int) -> None:
    plan = Plan.of(cluster_seed)
    RunWithMoves(replace(plan, nodes=max(plan.nodes, 4))).run()


# 249: a batch behind one that was refused before this node knew that it leads was out of order.
@pytest.mark.parametrize("seed_that_failed", [249])
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_a_seed_that_failed_once(seed_that_failed: int) -> None:
    Run(Plan.of(seed_that_failed)).run()


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_noticed(name: str) -> None:
    with pytest.raises(Violation), planted(name):
        for seed in range(1, 10):
            plan = replace(Plan.of(seed), nodes=3, only=PLANTED[name].faults)
            plan.settings["replica.lag.time.max.ms"] = 2000
            Run(plan).run()


def test_a_link_can_be_slow() -> None:
    with started(4) as (cluster, client):
        cluster.slow("client", "a", 0.5)
        began_s = cluster.now_s
        cluster.run(client.peer(1).call(MetadataRequest(topics=[]), timeout_s=10))
        assert cluster.now_s - began_s >= 1


def test_a_node_whose_ports_refuse_leads_no_more_and_comes_back() -> None:
    with started(5) as (cluster, client):
        leader = cluster.run(client.leader(WHERE)).leader_id
        cluster.refuse(NAMES[leader - 1])
        assert cluster.run(cluster.peer(NAMES[leader - 1]).probe())
        client.forget_leader(WHERE)
        cluster.run_for(1)
        cluster.run(client.send_until_taken(WHERE, b"elsewhere"), 30)
        assert cluster.run(client.leader(WHERE)).leader_id != leader
        cluster.heal()
        cluster.run(client.wait_in_sync([WHERE]), 60)


def test_who_only_follows_writes_watermarks_down_as_often_as_a_leader() -> None:
    with started(7) as (cluster, client):
        cluster.run_for(70)
        cluster.run(client.send(WHERE, b"one more"))
        cluster.run_for(10)
        for host in cluster.hosts.values():
            disk = host.faulty_disk
            noted = read_whole(disk, f"{DATA_DIR}/replication-offset-checkpoint", 1000)
            assert b"t 0 1\n" in noted, host.name


def test_a_controller_that_cannot_go_on_gives_way() -> None:
    with started(6) as (cluster, client):
        hosts: list[Any] = list(cluster.hosts.values())
        (active,) = filter(None, (host.node._metadata.active() for host in hosts))
        active.fail(RuntimeError("a mistake of its own"))
        cluster.run(client.create("later", 1), 60)


def test_the_same_seed_is_the_same_run() -> None:
    first, second = (Run(Plan.of(3, rounds=2)).run() for _ in range(2))
    assert list(first.trace.events) == list(second.trace.events)
    assert first.trace.digest == second.trace.digest
