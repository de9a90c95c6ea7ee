"""A client of several nodes: it looks for leaders, and remembers what it was promised."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from penstock.peer.error import PeerError
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.testing.simulation.cluster import SimulatedCluster
from tests.node.wire_kit import batch, fetch, fetched, part, produce, produced, values

CALL_S = 3.0
TOPIC = "t"


class ClusterClient:
    """Node ids are the places of the names, from 1 on."""

    def __init__(self, cluster: SimulatedCluster, names: Sequence[str]) -> None:
        self.cluster = cluster
        self.names = list(names)
        self._peers = {number: cluster.peer(name) for number, name in enumerate(names, 1)}
        self._leaders: dict[int, int] = {}

    async def create(self, partitions: int, **configs: str) -> None:
        wanted = CreatableTopic(
            name=TOPIC,
            num_partitions=partitions,
            replication_factor=len(self.names),
            configs=[
                CreatableTopicConfig(name=name.replace("_", "."), value=value)
                for name, value in configs.items()
            ],
        )
        while True:
            with suppress(PeerError):
                response: Any = await self._any().call(
                    CreateTopicsRequest(topics=[wanted], timeout_ms=5000), timeout_s=10
                )
                if response.topics[0].error_code in (0, 36):
                    return
            await asyncio.sleep(0.2)

    async def partition(self, index: int) -> Any:
        """What some node says of it; None if it cannot be asked."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
        with suppress(PeerError):
            response: Any = await self._any().call(request, timeout_s=CALL_S)
            for one in response.topics[0].partitions:
                if one.partition_index == index:
                    return one
        return None

    async def ask_leader(self, index: int, request: Any) -> Any:
        """The answer for that partition; PeerError without one that counts."""
        leader = self._leaders.get(index)
        if leader is None:
            found = await self.partition(index)
            if found is None or found.leader_id < 1:
                raise PeerError("no leader is known")
            leader = self._leaders[index] = found.leader_id
        try:
            response = await self._peers[leader].call(request, version=12, timeout_s=CALL_S)
        except PeerError:
            self._leaders.pop(index, None)
            raise
        return response

    def forget_leader(self, index: int) -> None:
        self._leaders.pop(index, None)

    def _any(self) -> Any:
        return self._peers[self.cluster.random.randint(1, len(self.names))]

    async def send(self, index: int, *contents: bytes) -> int:
        answer = produced(await self.ask_leader(index, produce(TOPIC, batch(*contents), index)))
        if answer.error_code:
            self.forget_leader(index)
            raise PeerError(f"error {answer.error_code}")
        return int(answer.base_offset)

    async def read_all(self, index: int, timeout_s: float = 120.0) -> list[bytes | None]:
        found: list[bytes | None] = []
        until = self.cluster.now_s + timeout_s
        while self.cluster.now_s < until:
            request = fetch({TOPIC: [part(index, len(found), 100_000)]})
            with suppress(PeerError):
                one = fetched(await self.ask_leader(index, request))[TOPIC, index]
                if one.error_code == 0:
                    found += values(one)
                    if len(found) >= one.high_watermark:
                        return found
                    continue
                self.forget_leader(index)
            await asyncio.sleep(0.1)
        raise AssertionError(f"partition {index} cannot be read")

    async def wait_in_sync(self, partitions: int) -> None:
        for index in range(partitions):
            while True:
                one = await self.partition(index)
                if one is not None and len(one.isr_nodes) == len(self.names):
                    break
                await asyncio.sleep(0.2)


class ClusterWriter:
    """Sends each content once, and knows what became of it as far as it was told."""

    def __init__(self, client: ClusterClient, name: str, partitions: int) -> None:
        self._client = client
        self._name = name
        self._partitions = partitions
        self.sent: set[bytes] = set()
        self.acked: dict[tuple[int, int], bytes] = {}

    async def run(self) -> None:
        random = self._client.cluster.random
        while True:
            number = len(self.sent)
            contents = [
                b"%s/%d/%d/" % (self._name.encode(), number, place) + b"." * random.randrange(500)
                for place in range(random.randint(1, 3))
            ]
            self.sent.update(contents)
            index = random.randrange(self._partitions)
            with suppress(PeerError):
                offset = await self._client.send(index, *contents)
                for place, content in enumerate(contents):
                    key = index, offset + place
                    assert key not in self.acked, f"offset {key} was given twice"
                    self.acked[key] = content
            await asyncio.sleep(random.uniform(0, 0.2))
