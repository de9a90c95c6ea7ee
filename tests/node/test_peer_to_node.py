"""Calls to a real node: ours, and Apache Kafka."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.peer.dialer import SocketDialer
from penstock.peer.error import PeerGone
from penstock.peer.peer import Peer
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.fetch import FetchRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.testing.broker import Broker
from tests.node.wire_kit import batch, fetch, fetched, part, produce, produced, values
from tools.brief_kafka import brief_kafka


def peer_of(address: str) -> Peer:
    host, port = address.rsplit(":", 1)
    return Peer(SocketDialer(), host, int(port), client_id="peer", random=lambda: 0.5)


@contextmanager
def started(kind: str, home: Path) -> Iterator[Any]:
    if kind == "penstock":
        with Broker(home / "data") as broker:
            yield broker
    else:
        with brief_kafka(home / "data") as kafka:
            yield kafka


@pytest.fixture(scope="module", params=["penstock", pytest.param("kafka", marks=pytest.mark.java)])
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with started(request.param, tmp_path_factory.mktemp(request.param)) as node:
        yield node.bootstrap_servers


async def create(peer: Peer, topic: str) -> None:
    wanted = CreatableTopic(name=topic, num_partitions=1, replication_factor=1)
    response: Any = await peer.call(
        CreateTopicsRequest(topics=[wanted], timeout_ms=10_000), timeout_s=20
    )
    assert response.topics[0].error_code == 0
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    while True:
        found: Any = await peer.call(request, timeout_s=10)
        if found.topics[0].error_code == 0 and found.topics[0].partitions:
            return
        await asyncio.sleep(0.05)


def test_topics_are_made_written_and_read(address: str) -> None:
    """Several at a time on one connection, answered in order; what was written comes back."""

    async def test() -> None:
        peer = peer_of(address)
        await create(peer, "peers")
        contents = [b"%d" % number * 50 for number in range(40)]
        answers = await asyncio.gather(
            *(peer.call(produce("peers", batch(one)), version=12, timeout_s=20) for one in contents)
        )
        assert [produced(one).base_offset for one in answers] == list(range(40))
        read: list[bytes | None] = []
        while len(read) < 40:
            response = await peer.call(
                fetch({"peers": [part(offset=len(read))]}), version=12, timeout_s=10
            )
            one = fetched(response)["peers", 0]
            assert one.error_code == 0 and isinstance(one.records, memoryview)
            read += values(one)
        assert read == contents
        peer.close()

    asyncio.run(test())


def test_what_it_speaks_is_learned(address: str) -> None:
    async def test() -> None:
        peer = peer_of(address)
        said = await peer.connect(10)
        assert {one.api_key for one in said.api_keys} > {0, 1, 3, 18}
        assert await peer.version(FetchRequest, 10) >= 17
        assert not await peer.probe()
        peer.close()

    asyncio.run(test())


@pytest.mark.parametrize("kind", ["penstock", pytest.param("kafka", marks=pytest.mark.java)])
def test_a_killed_process_is_known_at_once(kind: str, tmp_path: Path) -> None:
    async def test() -> None:
        with started(kind, tmp_path) as node:
            peer = peer_of(node.bootstrap_servers)
            lost: asyncio.Future[PeerGone] = asyncio.get_running_loop().create_future()
            peer.watch(lost.set_result)
            await peer.connect(10)
            node.kill()
            assert not (await asyncio.wait_for(lost, 5)).refused
            assert await peer.probe()
            with pytest.raises(PeerGone) as caught:
                await peer.call(MetadataRequest(topics=[]), timeout_s=5)
            assert caught.value.refused
            node.start()
            await peer.call(MetadataRequest(topics=[]), timeout_s=10)
            peer.close()

    asyncio.run(test())
