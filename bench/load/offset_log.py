"""Load process: fill the log of offsets with commits, or wait until all of it is served again."""

from __future__ import annotations

import asyncio
import time

from bench.load.child import Spec, say_ready, serve
from bench.load.commit import VERSION, check_committed, commit_request
from bench.load.raw import RawClient, connect, wait_coordinators, wait_offsets

_CONNECTIONS = 10
_RETRY_S = 0.005


def _groups(spec: Spec) -> list[str]:
    return [f"kept-{number}" for number in range(spec["groups"])]


async def _write(spec: Spec) -> Spec:
    """Every group commits all partitions in every round: the last round is what stays."""
    groups = _groups(spec)
    await wait_coordinators(spec["port"], groups)
    lanes = [groups[start::_CONNECTIONS] for start in range(_CONNECTIONS)]
    await asyncio.gather(*(_write_lane(spec, lane) for lane in lanes))
    return {"commits": spec["rounds"] * len(groups) * spec["partitions"]}


async def _write_lane(spec: Spec, groups: list[str]) -> None:
    client = RawClient()
    await connect(spec["port"], client)
    for number in range(1, spec["rounds"] + 1):
        for group in groups:
            request = commit_request(group, spec["topic"], [number] * spec["partitions"])
            check_committed(await client.call(VERSION, request))
    client.close()


async def _wait(spec: Spec) -> Spec:
    """Asks from before the broker is there until every group has its last offset."""
    groups = _groups(spec)
    say_ready()
    client = RawClient()
    while True:
        try:
            await connect(spec["port"], client)
            break
        except OSError:
            await asyncio.sleep(_RETRY_S)
    found = await wait_offsets(client, groups, spec["topic"])
    loaded_at = time.monotonic()
    client.close()
    if set(found.values()) != {spec["rounds"]}:
        raise RuntimeError(f"the groups came back with offsets {sorted(set(found.values()))}")
    return {"loaded_at": loaded_at}


def offset_log(spec: Spec) -> Spec:
    return asyncio.run(_write(spec) if spec["kind"] == "write" else _wait(spec))


if __name__ == "__main__":
    serve(offset_log)
