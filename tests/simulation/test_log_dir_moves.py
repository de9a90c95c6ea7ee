"""Replicas move between directories while nodes lose their power at any step of it."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.peer.error import PeerError
from penstock.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from penstock.storage import names
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_kit import ClusterClient
from tests.simulation.conftest import seeds
from tests.simulation.test_disk_repair import distinct

NAMES = ("a", "b", "c")
DIRECTORIES = ("/data", "/more")
SETTINGS = {"log.dirs": ",".join(DIRECTORIES), "metadata.log.dir": "/data"}
WHERE = TopicPartition("t", 0)
ROUNDS = 8
SETTLE_S_MAX = 120


class World:
    def __init__(self, cluster: SimulatedCluster) -> None:
        self.cluster = cluster
        add_members(cluster, NAMES, SETTINGS)
        cluster.start(*NAMES)
        self.client = ClusterClient(cluster, NAMES)
        self.sent: list[bytes] = []
        cluster.run(self.client.create("t", 1, min_insync_replicas="2", segment_ms="3000"))
        cluster.run(self.client.wait_in_sync([WHERE]))

    def nodes(self) -> list[Any]:
        """Those that have started."""
        hosts = self.cluster.hosts
        return [hosts[name].node for name in NAMES if hosts[name].is_up]

    def write(self, count: int) -> None:
        for _ in range(count):
            content = b"record %d" % len(self.sent)
            self.cluster.run(self.client.send_until_taken(WHERE, content))
            self.sent.append(content)

    def move(self, number: int, directory: str) -> None:
        """To the other directory, or back where it comes from."""
        topic = AlterReplicaLogDirTopic(name=WHERE.topic, partitions=[WHERE.partition])
        wanted = AlterReplicaLogDir(path=directory, topics=[topic])
        asked = self._ask(number, AlterReplicaLogDirsRequest(dirs=[wanted]))
        assert self.cluster.run(asked) == ErrorCode.NONE

    async def _ask(self, number: int, request: AlterReplicaLogDirsRequest) -> int:
        while True:
            with suppress(PeerError):
                answer = await self.client.peer(number).call(request, version=2, timeout_s=10)
                return int(answer.results[0].partitions[0].error_code)
            await asyncio.sleep(0.1)

    def mend(self) -> None:
        for name in NAMES:
            host = self.cluster.hosts[name]
            host.changes_left = None
            if not host.process.alive:
                self.cluster.begin(name)

    def is_settled(self) -> bool:
        """Every replica is in one directory, the one that metadata has it in."""
        nodes = self.nodes()
        return len(nodes) == len(NAMES) and all(
            node._image.topics.partition(*WHERE) is not None
            and WHERE in node.log_dirs
            and not node._keeper.moves.count
            and not any(each.futures for each in node.log_dirs.data)
            and self._told(node) == node.log_dirs.id_of(node.log_dirs.home(WHERE))
            for node in self.nodes()
        )

    def _told(self, node: Any) -> bytes:
        image = node._image.topics.partition(*WHERE)
        return bytes(image.directories[image.replicas.index(node.identity.node_id)])


@pytest.mark.parametrize("number", seeds(os.environ.get("SEEDS") or "1-3"))
def test_power_fails_while_replicas_move(number: int) -> None:
    random = Random(f"{number} moves")
    with SimulatedCluster(number, build=build_member) as cluster:
        world = World(cluster)
        for _ in range(ROUNDS):
            node_id = random.choice((1, 2, 3))
            world.move(node_id, random.choice(DIRECTORIES))
            if random.random() < 0.7:
                cluster.hosts[NAMES[node_id - 1]].changes_left = random.randrange(1, 80)
            world.write(random.randrange(1, 6))
            cluster.run_for(random.choice((0.05, 0.5, 3)))
            world.mend()
            cluster.run(world.client.wait_in_sync([WHERE]))
        for _ in range(SETTLE_S_MAX):
            if not world.is_settled():
                cluster.run_for(1)
        assert world.is_settled()
        # A follower may take half a minute to see that its leader was dead in between.
        for _ in range(SETTLE_S_MAX):
            read = cluster.run(world.client.read_all(WHERE))
            if len(distinct(read)) == len(world.sent):
                break
            cluster.run_for(1)
        assert distinct(read) == world.sent
        assert [one.offset for one in read] == list(range(len(read)))
        cluster.run_for(3)  # what was given up goes by and by
        for host in cluster.hosts.values():
            found = [
                each
                for directory in DIRECTORIES
                for each in host.faulty_disk.listdir(directory)
                if each == str(WHERE) or names.parse_future_dir(each) is not None
            ]
            assert len(found) <= 1
