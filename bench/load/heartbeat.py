"""Load process: thousands of groups of one member each, which do nothing but heartbeat."""

from __future__ import annotations

import asyncio

import uvloop

from bench.load.child import Spec, say_ready, serve
from bench.load.member import HEARTBEAT, Member
from bench.load.raw import allow_many_files, connect, wait_coordinators
from penstock.protocol.frame import decode_response
from penstock.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

INTERVAL_S = 3.0
_TICK_S = 0.01
_JOINS_AT_ONCE = 100


class Beating(Member):
    """Once in its group it sends one frame again and again and looks for the one good answer."""

    def __init__(self, group: str, topic: str) -> None:
        super().__init__(group, topic)
        self.answers = 0
        self.errors = 0
        self._frame: bytes | None = None

    def settled(self) -> None:
        self._frame = self.heartbeat_frame()

    def beat(self) -> None:
        assert self._frame is not None
        self.send(self._frame)

    def answered(self, frame: bytes) -> None:
        if self._frame is None:
            super().answered(frame)
            return
        assert HeartbeatRequest.API_KEY is not None
        _, response = decode_response(HeartbeatRequest.API_KEY, HEARTBEAT, frame)
        assert isinstance(response, HeartbeatResponse)
        self.answers += 1
        self.errors += response.error_code != 0


async def _enter(port: int, members: list[Beating]) -> None:
    for member in members:
        await connect(port, member)
        if await member.sync(await member.join()):
            raise RuntimeError("a lone member could not sync")
        member.settled()


async def _beat(members: list[Beating]) -> None:
    """Everybody once per interval, evenly spread."""
    loop = asyncio.get_running_loop()
    began, sent = loop.time(), 0
    while True:
        due = int((loop.time() - began) / INTERVAL_S * len(members))
        for number in range(sent, due):
            members[number % len(members)].beat()
        sent = max(sent, due)
        await asyncio.sleep(_TICK_S)


async def _heartbeat(spec: Spec) -> Spec:
    members = [Beating(f"lone-{number}", spec["topic"]) for number in range(spec["groups"])]
    await wait_coordinators(spec["port"], [member.group for member in members[:200]])
    lanes = [members[start::_JOINS_AT_ONCE] for start in range(_JOINS_AT_ONCE)]
    await asyncio.gather(*(_enter(spec["port"], lane) for lane in lanes))
    beating = asyncio.ensure_future(_beat(members))
    await asyncio.sleep(spec["warmup_seconds"])
    say_ready()
    before = sum(member.answers for member in members)
    await asyncio.wait([beating], timeout=spec["seconds"])
    if beating.done():
        beating.result()
    answers = sum(member.answers for member in members) - before
    return {
        "answers_per_s": answers / spec["seconds"],
        "errors": sum(member.errors for member in members),
    }


def heartbeat(spec: Spec) -> Spec:
    allow_many_files()
    uvloop.install()
    return asyncio.run(_heartbeat(spec))


if __name__ == "__main__":
    serve(heartbeat)
