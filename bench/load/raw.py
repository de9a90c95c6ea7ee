"""Group members without a client library: requests of the protocol, thousands from one process.

A client of its own for each of thousands of members would be the heaviest part of the machine.
Answers are matched by their order, which every broker keeps on a connection.
"""

from __future__ import annotations

import asyncio
import resource
import struct
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from penstock.protocol.entity import Entity
from penstock.protocol.frame import decode_response, encode_request
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

FIND_COORDINATOR = 4
OFFSET_FETCH = 8
RETRY_S = 0.01
_GROUPS_PER_REQUEST = 100


class RawClient(asyncio.Protocol):
    def __init__(self) -> None:
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._asked: deque[tuple[int, int, asyncio.Future[Any]]] = deque()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # That of uvloop does not say in its type what it is.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, _: Exception | None) -> None:
        for _key, _version, future in self._asked:
            if not future.done():
                future.set_exception(ConnectionError("the broker closed the connection"))
        self._asked.clear()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= 4:
            (length,) = struct.unpack_from(">i", self._buffer)
            if len(self._buffer) < 4 + length:
                return
            frame = bytes(self._buffer[4 : 4 + length])
            del self._buffer[: 4 + length]
            self.answered(frame)

    def answered(self, frame: bytes) -> None:
        key, version, future = self._asked.popleft()
        _, body = decode_response(key, version, frame)
        if not future.done():
            future.set_result(body)

    def send(self, frame: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            raise ConnectionError("the broker closed the connection")
        self._transport.write(frame)

    def call(self, version: int, message: Entity) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        assert message.API_KEY is not None
        self._asked.append((message.API_KEY, version, future))
        self.send(encode_request(0, version, message, "bench"))
        return future

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _same(client: RawClient) -> RawClient:
    return client


async def connect(port: int, client: RawClient) -> None:
    loop = asyncio.get_running_loop()
    await loop.create_connection(partial(_same, client), "127.0.0.1", port)


async def wait_coordinators(port: int, groups: Sequence[str]) -> None:
    """Until the coordinator of every group is there and has loaded."""
    client = RawClient()
    await connect(port, client)
    for group in groups:
        request = FindCoordinatorRequest(coordinator_keys=[group])
        while (await client.call(FIND_COORDINATOR, request)).coordinators[0].error_code:
            await asyncio.sleep(RETRY_S)
    await wait_offsets(client, groups, "bench")
    client.close()


async def wait_offsets(client: RawClient, groups: Sequence[str], topic: str) -> dict[str, int]:
    """What each group has committed for the topic's first partition, asked until all answer."""
    found: dict[str, int] = {}
    while len(found) < len(groups):
        missing = [group for group in groups if group not in found]
        asked = [
            client.call(OFFSET_FETCH, _fetch(missing[start : start + _GROUPS_PER_REQUEST], topic))
            for start in range(0, len(missing), _GROUPS_PER_REQUEST)
        ]
        for response in await asyncio.gather(*asked):
            for group in response.groups:
                if not group.error_code:
                    found[group.group_id] = group.topics[0].partitions[0].committed_offset
        if len(found) < len(groups):
            await asyncio.sleep(RETRY_S)
    return found


def _fetch(groups: Sequence[str], topic: str) -> OffsetFetchRequest:
    return OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group_id=group,
                topics=[OffsetFetchRequestTopics(name=topic, partition_indexes=[0])],
            )
            for group in groups
        ]
    )


def allow_many_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
