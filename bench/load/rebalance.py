"""Load process: a group of many members that one more joins and leaves, over and over.

When members notice a rebalance depends on their heartbeat interval alone. Here all of them send a
heartbeat as soon as the membership changes, so that what is left is the coordinator's work.
"""

from __future__ import annotations

import asyncio
import time
from statistics import median

from bench.load.child import Spec, serve
from bench.load.member import (
    JOIN,
    MEMBER_ID_REQUIRED,
    REBALANCE_IN_PROGRESS,
    Member,
)
from bench.load.raw import allow_many_files, connect, wait_coordinators

_ASK_AGAIN_S = 0.001


async def _settle(member: Member) -> None:
    """Join and sync until both hold."""
    while await member.sync(await member.join()) == REBALANCE_IN_PROGRESS:
        pass


async def _follow(member: Member) -> None:
    """Notice that the membership changed, then settle again."""
    while not (error := await member.heartbeat()):
        await asyncio.sleep(_ASK_AGAIN_S)
    if error != REBALANCE_IN_PROGRESS:
        raise RuntimeError(f"a heartbeat failed with error code {error}")
    await _settle(member)


async def _time_join(members: list[Member], newcomer: Member) -> float:
    first = await newcomer.call(JOIN, newcomer.join_request())
    if first.error_code != MEMBER_ID_REQUIRED:
        raise RuntimeError(f"a first join was answered with error code {first.error_code}")
    newcomer.member_id = first.member_id
    began = time.perf_counter()
    joining = asyncio.ensure_future(_settle(newcomer))
    await asyncio.sleep(0)
    await asyncio.gather(joining, *(_follow(member) for member in members))
    elapsed = time.perf_counter() - began
    _check([*members, newcomer])
    return elapsed


async def _time_leave(members: list[Member], leaver: Member) -> float:
    began = time.perf_counter()
    leaving = asyncio.ensure_future(leaver.leave())
    await asyncio.sleep(0)
    await asyncio.gather(leaving, *(_follow(member) for member in members))
    elapsed = time.perf_counter() - began
    leaver.member_id = ""
    _check(members)
    return elapsed


def _check(members: list[Member]) -> None:
    if len({member.generation for member in members}) != 1:
        raise RuntimeError("the members ended in different generations")


async def _rebalance(spec: Spec) -> Spec:
    group = spec["group"]
    await wait_coordinators(spec["port"], [group])
    members = [Member(group, spec["topic"]) for _ in range(spec["members"])]
    for member in members:
        await connect(spec["port"], member)
    await asyncio.gather(*(_settle(member) for member in members))
    await _steady(members)
    one_more = Member(group, spec["topic"])
    await connect(spec["port"], one_more)
    joins, leaves = [], []
    for _ in range(spec["repeats"]):
        joins.append(await _time_join(members, one_more))
        leaves.append(await _time_leave(members, one_more))
    await asyncio.gather(*(member.leave() for member in members))
    # The first ones meet code that is not compiled yet.
    counted = slice(spec["repeats"] // 3, None)
    return {"join_ms": 1e3 * median(joins[counted]), "leave_ms": 1e3 * median(leaves[counted])}


async def _steady(members: list[Member]) -> None:
    """While a group fills, late joins end the generations of early ones."""
    while True:
        errors = await asyncio.gather(*(member.heartbeat() for member in members))
        if not any(errors):
            return
        late = [one for one, error in zip(members, errors, strict=True) if error]
        await asyncio.gather(*(_settle(member) for member in late))


def rebalance(spec: Spec) -> Spec:
    allow_many_files()
    return asyncio.run(_rebalance(spec))


if __name__ == "__main__":
    serve(rebalance)
