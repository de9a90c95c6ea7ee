"""Load process: a group of many members that one more joins and leaves, over and over.

When members notice a rebalance depends on their heartbeat interval alone. Here all of them send a
heartbeat as soon as the membership changes, so that what is left is the coordinator's work.
"""

from __future__ import annotations

import asyncio
import time
from statistics import median
from struct import Struct

import uvloop

from bench.load.child import Spec, serve
from bench.load.member import JOIN, MEMBER_ID_REQUIRED, REBALANCE_IN_PROGRESS, SYNC, Member
from bench.load.raw import allow_many_files, connect, wait_coordinators
from penstock.protocol.frame import decode_response, encode_request
from penstock.protocol.messages.join_group import JoinGroupRequest

_ASK_AGAIN_S = 0.001
_LOOK_AGAIN_S = 0.02
# The answers to heartbeats, joins and syncs begin alike: header, throttle time, error code.
_ERROR_AT = 9
_ERROR = Struct(">h")
_GENERATION_AT = 11
_GENERATION = Struct(">i")
_MARK = 0x01020304
# Only the leader is told who the members are.
_LEADER_FRAME_BYTES = 1_000


class Crowd:
    """Counts who has settled, and ends the wait with the last one or the first failure."""

    def __init__(self, count: int) -> None:
        self.left = count
        self.settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def one_settled(self) -> None:
        self.left -= 1
        if not self.left:
            self.settled.set_result(None)

    def fail(self, what: str, error: int) -> None:
        if not self.settled.done():
            self.settled.set_exception(RuntimeError(f"a {what} failed with error code {error}"))


class CrowdMember(Member):
    """Its requests are encoded ahead, and what it reads of the answers stands at fixed places:
    two hundred of these have to be faster than the coordinator that is measured."""

    def __init__(self, group: str, topic: str) -> None:
        super().__init__(group, topic)
        self._awaited = ""
        self._crowd: Crowd | None = None
        self._frames: dict[str, bytes] = {}
        self._sync_frame = bytearray()

    def enter(self, crowd: Crowd) -> None:
        self._begin(crowd)
        self._ask("join")

    def follow(self, crowd: Crowd) -> None:
        """Notice that the membership changed, then settle again."""
        self._begin(crowd)
        self._ask("heartbeat")

    def prepare(self) -> None:
        """Before the clock runs."""
        generation, self.generation = self.generation, _MARK
        self._sync_frame = bytearray(
            encode_request(0, SYNC, self.sync_request([]), "bench"),
        )
        self.generation = generation
        self._frames = {
            "heartbeat": self.heartbeat_frame(),
            "join": encode_request(0, JOIN, self.join_request(), "bench"),
        }

    def answered(self, frame: bytes) -> None:
        if not self._awaited:
            super().answered(frame)
            return
        (error,) = _ERROR.unpack_from(frame, _ERROR_AT)
        if self._awaited == "heartbeat" and not error:
            asyncio.get_running_loop().call_later(_ASK_AGAIN_S, self._ask, "heartbeat")
        elif error == REBALANCE_IN_PROGRESS:
            self._ask("join")
        elif error:
            assert self._crowd is not None
            self._crowd.fail(self._awaited, error)
        elif self._awaited == "join":
            self._sync(frame)
        else:
            self._settle()

    def _begin(self, crowd: Crowd) -> None:
        self._crowd = crowd
        if not self._frames:
            self.prepare()

    def _ask(self, what: str) -> None:
        self._awaited = what
        self.send(self._frames[what])

    def _sync(self, frame: bytes) -> None:
        (self.generation,) = _GENERATION.unpack_from(frame, _GENERATION_AT)
        self._awaited = "sync"
        if len(frame) > _LEADER_FRAME_BYTES:
            assert JoinGroupRequest.API_KEY is not None
            _, joined = decode_response(JoinGroupRequest.API_KEY, JOIN, frame)
            members = joined.members  # type: ignore[attr-defined]
            self.send(encode_request(0, SYNC, self.sync_request(members), "bench"))
            return
        at = self._sync_frame.index(_GENERATION.pack(_MARK))
        own = bytearray(self._sync_frame)
        _GENERATION.pack_into(own, at, self.generation)
        self.send(bytes(own))

    def _settle(self) -> None:
        self._awaited = ""
        assert self._crowd is not None
        self._crowd.one_settled()


async def _first_join(member: CrowdMember) -> None:
    """Gets the id under which it may join."""
    first = await member.call(JOIN, member.join_request())
    if first.error_code != MEMBER_ID_REQUIRED:
        raise RuntimeError(f"a first join was answered with error code {first.error_code}")
    member.member_id = first.member_id
    member.prepare()


async def _time_join(members: list[CrowdMember], newcomer: CrowdMember) -> float:
    await _first_join(newcomer)
    for member in members:
        member.prepare()
    began = time.perf_counter()
    crowd = Crowd(len(members) + 1)
    newcomer.enter(crowd)
    for member in members:
        member.follow(crowd)
    await crowd.settled
    elapsed = time.perf_counter() - began
    _check([*members, newcomer])
    return elapsed


async def _time_leave(members: list[CrowdMember], leaver: CrowdMember) -> float:
    for member in members:
        member.prepare()
    began = time.perf_counter()
    leaving = asyncio.ensure_future(leaver.leave())
    await asyncio.sleep(0)
    crowd = Crowd(len(members))
    for member in members:
        member.follow(crowd)
    await crowd.settled
    elapsed = time.perf_counter() - began
    await leaving
    leaver.member_id = ""
    _check(members)
    return elapsed


def _check(members: list[CrowdMember]) -> None:
    if len({member.generation for member in members}) != 1:
        raise RuntimeError("the members ended in different generations")


async def _rebalance(spec: Spec) -> Spec:
    group = spec["group"]
    await wait_coordinators(spec["port"], [group])
    members = [CrowdMember(group, spec["topic"]) for _ in range(spec["members"])]
    one_more = CrowdMember(group, spec["topic"])
    for member in (*members, one_more):
        await connect(spec["port"], member)
    await _gather(members)
    joins, leaves = [], []
    for _ in range(spec["repeats"]):
        joins.append(await _time_join(members, one_more))
        leaves.append(await _time_leave(members, one_more))
    await asyncio.gather(*(member.leave() for member in members))
    # The first ones meet code that is not compiled yet.
    counted = slice(spec["repeats"] // 3, None)
    return {"join_ms": 1e3 * median(joins[counted]), "leave_ms": 1e3 * median(leaves[counted])}


async def _gather(members: list[CrowdMember]) -> None:
    """While a group fills, late joins end the generations of early ones. Those have to notice and
    come back, or the late ones wait for them for ever."""
    await asyncio.gather(*(_first_join(member) for member in members))
    entering = {asyncio.ensure_future(_enter(member)): member for member in members}
    while entering:
        done, _ = await asyncio.wait(entering, timeout=_LOOK_AGAIN_S)
        for task in done:
            task.result()
            del entering[task]
        away = set(entering.values())
        settled = [member for member in members if member not in away]
        errors = await asyncio.gather(*(member.heartbeat() for member in settled))
        for member, error in zip(settled, errors, strict=True):
            if error:
                entering[asyncio.ensure_future(_enter(member))] = member


async def _enter(member: CrowdMember) -> None:
    crowd = Crowd(1)
    member.prepare()
    member.enter(crowd)
    await crowd.settled


def rebalance(spec: Spec) -> Spec:
    allow_many_files()
    uvloop.install()
    return asyncio.run(_rebalance(spec))


if __name__ == "__main__":
    serve(rebalance)
