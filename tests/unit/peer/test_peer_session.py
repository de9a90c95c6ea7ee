"""A login that ends: the next call goes out on another connection, and none is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import chain, repeat

from penstock.peer.dialer import SocketDialer
from penstock.peer.error import PeerGone
from penstock.peer.peer import Peer
from penstock.protocol.entity import Entity
from penstock.protocol.messages.header import RequestHeader
from tests.unit.peer.peer_kit import answer, ask, cluster_of, failure_of, run, standing


class BriefDialer(SocketDialer):
    session_s = 0.05  # type: ignore[assignment]


class OnceBriefDialer(SocketDialer):
    """The first session ends soon, the next ones never."""

    def __init__(self) -> None:
        self._sessions: Iterator[float | None] = chain([0.05], repeat(None))

    @property
    def session_s(self) -> float | None:  # type: ignore[override]
        return next(self._sessions)


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


def test_a_session_that_was_replaced_breaks_without_the_next_one() -> None:
    async def work() -> None:
        lost: list[object] = []
        silences = iter([None])

        def at_first_silent(header: RequestHeader, entity: Entity) -> bytes | None:
            return next(silences, politely(header, entity))

        async with standing(at_first_silent) as stand:
            peer = Peer(
                OnceBriefDialer(), "127.0.0.1", stand.port, client_id="t", random=lambda: 0.5
            )
            peer.watch(lost.append)
            unanswered = asyncio.create_task(failure_of(peer.call(ask(), timeout_s=30)))
            while peer.is_connected or len(stand.asked) < 2:
                await asyncio.sleep(0.01)
            await peer.call(ask(), timeout_s=30)
            stand.hang_up_oldest()
            assert isinstance(await unanswered, PeerGone)
            assert peer.is_connected
            await peer.call(ask(), timeout_s=30)
            assert stand.connected == 2
            peer.close()
        assert lost == []

    run(work())
