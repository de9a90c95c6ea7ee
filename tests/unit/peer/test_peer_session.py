"""A login that ends: the next call goes out on another connection, and none is lost."""

from __future__ import annotations

import asyncio

from penstock.peer.dialer import SocketDialer
from penstock.peer.peer import Peer
from penstock.protocol.entity import Entity
from penstock.protocol.messages.header import RequestHeader
from tests.unit.peer.peer_kit import answer, ask, cluster_of, run, standing


class BriefDialer(SocketDialer):
    session_s = 0.05  # type: ignore[assignment]


def politely(header: RequestHeader, _: Entity) -> bytes:
    return answer(header, cluster_of("c"))


def test_calls_go_on_as_sessions_end() -> None:
    async def work() -> None:
        lost: list[object] = []
        async with standing(politely) as stand:
            peer = Peer(BriefDialer(), "127.0.0.1", stand.port, client_id="t", random=lambda: 0.5)
            peer.watch(lost.append)
            while stand.connected < 4:
                await asyncio.gather(*(peer.call(ask(), timeout_s=30) for _ in range(3)))
                await asyncio.sleep(0.001)
            peer.close()
        assert lost == []

    run(work())
