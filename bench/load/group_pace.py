"""Load process: groups that commit all their partitions every few seconds, near the log's end."""

from __future__ import annotations

import asyncio

import uvloop

from bench.load.child import Spec, say_ready, serve
from bench.load.commit import VERSION, check_committed, commit_request
from bench.load.raw import RawClient, connect, wait_coordinators
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

LIST_OFFSETS = 7
LATEST = -1
CONNECTIONS = 20
LAG_MAX = 5_000
"""Each group is a different number of records behind, up to this."""


async def _ends(client: RawClient, topic: str, partitions: int) -> list[int]:
    asked = [
        ListOffsetsPartition(partition_index=index, timestamp=LATEST) for index in range(partitions)
    ]
    topics = [ListOffsetsTopic(name=topic, partitions=asked)]
    answer = await client.call(LIST_OFFSETS, ListOffsetsRequest(replica_id=-1, topics=topics))
    return [each.offset for each in answer.topics[0].partitions]


async def _commit_all(spec: Spec, until: float) -> int:
    loop = asyncio.get_running_loop()
    names = [f"pace-{number}" for number in range(spec["groups"])]
    await wait_coordinators(spec["port"], names)
    clients = [RawClient() for _ in range(CONNECTIONS)]
    for client in clients:
        await connect(spec["port"], client)
    commits = rounds = 0
    while not rounds or loop.time() < until:
        began = loop.time()
        for number, name in enumerate(names):
            if number % 50 == 0:
                ends = await _ends(clients[0], spec["topic"], spec["partitions"])
                # Spread over the interval, as consumers that started at different times are.
                due = began + spec["interval_s"] * number / len(names)
                await asyncio.sleep(max(due - loop.time(), 0) if rounds else 0)
            behind = (number * 7919 + rounds) % LAG_MAX
            offsets = [max(end - behind, 0) for end in ends]
            client = clients[number % CONNECTIONS]
            request = commit_request(name, spec["topic"], offsets)
            check_committed(await client.call(VERSION, request))
            commits += len(offsets)
        if not rounds:
            say_ready()
            until += loop.time() - began
        rounds += 1
        await asyncio.sleep(max(began + spec["interval_s"] - loop.time(), 0))
    for client in clients:
        client.close()
    return commits


async def _run(spec: Spec) -> Spec:
    until = asyncio.get_running_loop().time() + spec["seconds"]
    return {"commits": await _commit_all(spec, until)}


def group_pace(spec: Spec) -> Spec:
    uvloop.install()
    return asyncio.run(_run(spec))


if __name__ == "__main__":
    serve(group_pace)
