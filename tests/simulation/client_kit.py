"""Clients of simulated nodes, who remember what they were promised."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from penstock.peer.error import PeerError
from penstock.peer.peer import Peer
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.testing.simulation.cluster import SimulatedCluster
from tests.node.wire_kit import batch, fetch, fetched, part, produce, produced, values

CALL_S = 2.0
PATIENCE_S = 60.0


async def create_topic(peer: Peer, name: str, partitions: int = 1) -> None:
    wanted = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    response: Any = await peer.call(
        CreateTopicsRequest(topics=[wanted], timeout_ms=5000), timeout_s=10
    )
    assert response.topics[0].error_code == 0, response


async def send(peer: Peer, topic: str, partition: int, *contents: bytes) -> int:
    """The offset of the first, once it is acknowledged."""
    request = produce(topic, batch(*contents), partition)
    answer = produced(await peer.call(request, version=12, timeout_s=CALL_S))
    if answer.error_code:
        raise PeerError(f"error {answer.error_code}")
    return int(answer.base_offset)


async def read_all(peer: Peer, topic: str, partition: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    while True:
        response = await peer.call(
            fetch({topic: [part(partition, len(found), 20_000)]}), version=12, timeout_s=CALL_S
        )
        one = fetched(response)[topic, partition]
        assert one.error_code == 0, one
        found += values(one)
        if len(found) >= one.high_watermark:
            return found


class Writer:
    """Sends each content once, and knows what became of it as far as it was told."""

    def __init__(self, cluster: SimulatedCluster, node: str, name: str, partitions: int) -> None:
        self._cluster = cluster
        self._peer = cluster.peer(node)
        self._name = name
        self._partitions = partitions
        self.sent: set[bytes] = set()
        self.acked: dict[tuple[int, int], bytes] = {}

    async def run(self) -> None:
        random = self._cluster.random
        while True:
            number = len(self.sent)
            contents = [
                b"%s/%d/%d/" % (self._name.encode(), number, place) + b"." * random.randrange(2000)
                for place in range(random.randint(1, 3))
            ]
            self.sent.update(contents)
            partition = random.randrange(self._partitions)
            with suppress(PeerError):
                offset = await send(self._peer, "t", partition, *contents)
                for place, content in enumerate(contents):
                    assert (partition, offset + place) not in self.acked, "an offset given twice"
                    self.acked[partition, offset + place] = content
            await asyncio.sleep(random.uniform(0, 0.2))


class Committer:
    """Commits one number higher each time."""

    def __init__(self, cluster: SimulatedCluster, node: str) -> None:
        self._cluster = cluster
        self._peer = cluster.peer(node)
        self.sent = -1
        self.acked = -1

    async def run(self) -> None:
        while True:
            self.sent += 1
            one = OffsetCommitRequestPartition(partition_index=0, committed_offset=self.sent)
            topic = OffsetCommitRequestTopic(name="t", partitions=[one])
            request = OffsetCommitRequest(group_id="g", topics=[topic])
            with suppress(PeerError):
                response: Any = await self._peer.call(request, version=9, timeout_s=CALL_S)
                if response.topics[0].partitions[0].error_code == 0:
                    self.acked = self.sent
            await asyncio.sleep(self._cluster.random.uniform(0, 0.1))

    async def fetch(self) -> int:
        topic = OffsetFetchRequestTopics(name="t", partition_indexes=[0])
        group = OffsetFetchRequestGroup(group_id="g", topics=[topic])
        until = self._cluster.now_s + PATIENCE_S
        while True:
            with suppress(PeerError):
                response: Any = await self._peer.call(
                    OffsetFetchRequest(groups=[group]), version=9, timeout_s=CALL_S
                )
                (found,) = response.groups
                if not found.error_code:
                    return int(found.topics[0].partitions[0].committed_offset)
            assert self._cluster.now_s < until, "the group cannot be asked"
            await asyncio.sleep(0.1)
