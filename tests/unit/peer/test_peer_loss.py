"""What becomes of calls when the other side breaks, refuses, is silent, or talks nonsense."""

from __future__ import annotations

import asyncio
from struct import pack

import pytest

from penstock.model.error import InvariantError
from penstock.peer.backoff import Backoff
from penstock.peer.dialer import SocketDialer
from penstock.peer.error import PeerGone, PeerTimeout
from penstock.peer.peers import Peers
from penstock.protocol.entity import Entity
from penstock.protocol.messages.header import RequestHeader
from penstock.testing.port import free_port
from tests.unit.peer.peer_kit import (
    answer,
    ask,
    cluster_of,
    failure_of,
    framed,
    peer_of,
    run,
    standing,
)


def politely(header: RequestHeader, _: Entity) -> bytes:
    return answer(header, cluster_of("c"))


def silent(_: RequestHeader, __: Entity) -> None:
    return None


def hang_up(_: RequestHeader, __: Entity) -> bytes:
    raise EOFError


def test_a_port_that_refuses_is_told_apart() -> None:
    async def test() -> None:
        peer = peer_of(free_port())
        error = await failure_of(peer.call(ask(), timeout_s=1))
        assert isinstance(error, PeerGone) and error.refused
        assert await peer.probe()
        # Within the pause, too: it fails as the last try did.
        error = await failure_of(peer.call(ask(), timeout_s=0.001))
        assert isinstance(error, PeerGone) and error.refused

    run(test())


def test_a_probe_of_a_port_that_listens() -> None:
    async def test() -> None:
        async with standing(silent) as stand:
            peer = peer_of(stand.port)
            assert not await peer.probe()
            assert not peer.is_connected

    run(test())


@pytest.mark.parametrize(
    "nonsense",
    [
        lambda header: framed(answer(header, cluster_of("c"))[4:-4]),
        lambda header: framed(pack(">i", header.correlation_id + 1) + bytes(20)),
        lambda header: framed(pack(">i", header.correlation_id)),
        lambda header: framed(b"\0\0"),
        lambda header: pack(">i", 2**31 - 1) + bytes(100),
        lambda header: pack(">i", -5) + bytes(100),
        lambda header: pack(">i", 0) + bytes(100),
        lambda header: framed(pack(">i", header.correlation_id) + b"\xff" * 50),
    ],
    ids=["cut", "other-id", "empty", "no-id", "huge", "negative", "zero", "garbage"],
)
def test_nonsense_ends_the_connection_and_all_calls_on_it(nonsense: object) -> None:
    async def test() -> None:
        async with standing(lambda header, _: nonsense(header)) as stand:  # type: ignore[operator]
            peer = peer_of(stand.port)
            calls = [peer.call(ask(), timeout_s=2) for _ in range(3)]
            errors = await asyncio.gather(*map(failure_of, calls))
            assert [type(one) for one in errors] == [PeerGone] * 3
            assert not any(one.refused for one in errors)  # type: ignore[attr-defined]
            assert not peer.is_connected
            peer.close()

    run(test())


def test_half_an_answer_and_then_the_end() -> None:
    def half(header: RequestHeader, _: Entity) -> bytes:
        if header.correlation_id > 2:
            raise EOFError
        return answer(header, cluster_of("c"))[:-5]

    async def test() -> None:
        async with standing(half) as stand:
            peer = peer_of(stand.port)
            calls = [peer.call(ask(), timeout_s=2) for _ in range(2)]
            errors = await asyncio.gather(*map(failure_of, calls))
            assert [type(one) for one in errors] == [PeerGone] * 2
            peer.close()

    run(test())


def test_an_answer_nobody_asked_for_ends_the_connection() -> None:
    def twice(header: RequestHeader, _: Entity) -> bytes:
        return 2 * answer(header, cluster_of("c"))

    async def test() -> None:
        lost: list[PeerGone] = []
        async with standing(twice) as stand:
            peer = peer_of(stand.port)
            peer.watch(lost.append)
            await peer.call(ask(), timeout_s=2)
            while not lost:
                await asyncio.sleep(0.005)
            assert "nothing was asked" in str(lost[0])
            peer.close()

    run(test())


def test_silence_fails_the_call_and_ends_the_connection() -> None:
    async def test() -> None:
        async with standing(silent) as stand:
            peer = peer_of(stand.port)
            await peer.connect(5)
            other = asyncio.create_task(failure_of(peer.call(ask(), timeout_s=30)))
            await asyncio.sleep(0)
            assert isinstance(await failure_of(peer.call(ask(), timeout_s=0.05)), PeerTimeout)
            # The other has more time, and nothing to hope for.
            assert isinstance(await other, PeerGone)
            assert not peer.is_connected
            peer.close()

    run(test())


def test_a_late_answer_is_left_unread_where_others_came_meanwhile() -> None:
    async def test() -> None:
        held: list[bytes] = []

        def slowly(header: RequestHeader, _: Entity) -> bytes | None:
            held.append(answer(header, cluster_of(str(header.correlation_id))))
            if len(held) == 1:
                # Something is heard, though not the answer: the first bytes of it.
                return held[0][:10]
            return held[0][10:] + held[1] if len(held) == 2 else held[-1]

        async with standing(slowly) as stand:
            peer = peer_of(stand.port)
            await peer.connect(5)
            assert isinstance(await failure_of(peer.call(ask(), timeout_s=0.1)), PeerTimeout)
            assert peer.is_connected
            for number in ("3", "4"):
                found = await peer.call(ask(), timeout_s=5)
                assert found.cluster_id == number  # type: ignore[attr-defined]
            assert stand.connected == 1
            peer.close()

    run(test())


def test_a_cancelled_call_leaves_the_connection_to_others() -> None:
    async def test() -> None:
        async with standing(politely) as stand:
            peer = peer_of(stand.port)
            await peer.connect(5)
            call = asyncio.create_task(peer.call(ask(), timeout_s=5))
            await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await peer.call(ask(), timeout_s=5)
            assert stand.connected == 1
            peer.close()

    run(test())


def test_a_silent_accepter_is_no_connection() -> None:
    async def test() -> None:
        async with standing(silent, silent) as stand:
            peer = peer_of(stand.port)
            assert isinstance(await failure_of(peer.call(ask(), timeout_s=0.05)), PeerTimeout)
            assert not peer.is_connected
            peer.close()

    run(test())


def test_a_loss_is_told_at_once_and_once() -> None:
    async def test() -> None:
        lost: list[PeerGone] = []
        async with standing(silent) as stand:
            peer = peer_of(stand.port)
            end = peer.watch(lost.append)
            await peer.connect(5)
            call = asyncio.create_task(failure_of(peer.call(ask(), timeout_s=30)))
            await asyncio.sleep(0.01)
            stand.close()
            assert isinstance(await call, PeerGone)
            assert len(lost) == 1 and not lost[0].refused
            assert await peer.probe()
            end()
            end()
            peer.close()
            assert len(lost) == 1

    run(test())


def test_closing_or_moving_from_here_is_no_loss() -> None:
    async def test() -> None:
        lost: list[PeerGone] = []
        async with standing(politely) as stand, standing(politely) as other:
            peer = peer_of(stand.port)
            peer.watch(lost.append)
            await peer.connect(5)
            peer.move("127.0.0.1", other.port)
            await peer.call(ask(), timeout_s=5)
            assert (stand.connected, other.connected) == (1, 1)
            peer.close()
            assert isinstance(await failure_of(peer.call(ask(), timeout_s=5)), PeerGone)
            assert lost == []

    run(test())


def test_a_node_that_comes_back_is_found_again() -> None:
    async def test() -> None:
        async with standing(politely) as stand:
            peer = peer_of(stand.port)
            await peer.call(ask(), timeout_s=5)
            stand.close()
            error = await failure_of(peer.call(ask(), timeout_s=5))
            while not (isinstance(error, PeerGone) and error.refused):
                error = await failure_of(peer.call(ask(), timeout_s=5))
            await stand.open(stand.port)
            await peer.call(ask(), timeout_s=5)
            peer.close()

    run(test())


def test_one_who_always_hangs_up_is_not_asked_without_a_pause() -> None:
    async def test() -> None:
        async with standing(hang_up) as stand:
            peer = peer_of(stand.port)
            until = asyncio.get_running_loop().time() + 0.5
            while asyncio.get_running_loop().time() < until:
                assert isinstance(await failure_of(peer.call(ask(), timeout_s=5)), PeerGone)
            # After 50, 100, 200 and 400 ms.
            assert 2 <= stand.connected <= 5
            peer.close()

    run(test())


def test_the_pause_doubles_up_to_a_second() -> None:
    backoff = Backoff(lambda: 0.5)
    pauses = []
    for _ in range(7):
        backoff.fail(100.0)
        pauses.append(round(backoff.ready_at - 100.0, 6))
    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    backoff.reset()
    assert backoff.ready_at <= 0
    extremes = []
    for number in (0.0, 1.0):
        backoff = Backoff(lambda number=number: number)  # type: ignore[misc]
        backoff.fail(0.0)
        extremes.append(round(backoff.ready_at, 6))
    assert extremes == [0.04, 0.06]


def test_peers_by_id_and_by_address() -> None:
    async def test() -> None:
        async with standing(politely) as stand, standing(politely) as other:
            peers = Peers(SocketDialer(), client_id="test", random=lambda: 0.5)
            with pytest.raises(PeerGone):
                peers.get(1)
            peers.put(1, "127.0.0.1", stand.port)
            first = peers.get(1)
            await first.call(ask(), timeout_s=5)
            assert peers.at("127.0.0.1", stand.port) is peers.at("127.0.0.1", stand.port)
            peers.replace({1: ("127.0.0.1", other.port), 2: ("127.0.0.1", stand.port)})
            assert peers.get(1) is first and sorted(peers) == [1, 2]
            await first.call(ask(), timeout_s=5)
            assert (stand.connected, other.connected) == (1, 1)
            peers.replace({2: ("127.0.0.1", stand.port)})
            assert 1 not in peers
            assert isinstance(await failure_of(first.call(ask(), timeout_s=5)), PeerGone)
            peers.close()
            with pytest.raises(InvariantError):
                peers.put(3, "127.0.0.1", stand.port)

    run(test())
