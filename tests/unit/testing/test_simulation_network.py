"""The simulated network breaks the ways a real one does, and only when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from penstock.network.sockets import ListenError
from penstock.testing.disk import FaultyDisk
from penstock.testing.simulation.loop import VirtualLoop
from penstock.testing.simulation.network import Network
from penstock.testing.simulation.socket import (
    WINDOW_BYTES,
    HostSockets,
    SimulatedListener,
    SimulatedSocket,
)
from penstock.testing.simulation.trace import Trace

PORT = 9092


class Bench:
    def __init__(self) -> None:
        self.loop = VirtualLoop(Random(1))
        self.network = Network(self.loop, Random(2), Trace(self.loop.now_ns))
        self.disk = FaultyDisk()

    def sockets(self, host: str) -> HostSockets:
        return HostSockets(self.network, host, self.disk)  # type: ignore[arg-type]

    def listen(self, host: str) -> SimulatedListener:
        listener = self.sockets(host).bind(host, PORT)
        listener.listen(1)
        return listener

    def pair(self) -> tuple[SimulatedSocket, SimulatedSocket]:
        """A client's end and the server's."""
        listener = self.listen("server")
        near = self.run(self.sockets("client").connect("server", PORT))
        far, (host, _) = listener.accept()
        assert host == "client"
        return near, far

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def run_for(self, seconds: float) -> None:
        self.loop.run_until(lambda: False, self.loop.time() + seconds)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def received(sock: SimulatedSocket) -> bytes:
    data = b""
    with suppress(BlockingIOError):
        while more := sock.recv(1 << 20):
            data += more
    return data


def is_silent(sock: SimulatedSocket) -> bool:
    try:
        sock.recv(1)
    except BlockingIOError:
        return True
    return False


def test_bytes_arrive_later_whole_and_in_order(bench: Bench) -> None:
    near, far = bench.pair()
    sent = [bytes([number]) * (1 + 37 * number) for number in range(100)]
    for data in sent:
        near.send(data)
    assert is_silent(far)
    bench.run_for(1)
    assert received(far) == b"".join(sent)
    assert is_silent(far)


def test_a_port_nobody_listens_on_refuses(bench: Bench) -> None:
    with pytest.raises(ConnectionRefusedError):
        bench.run(bench.sockets("client").connect("server", PORT))
    bound = bench.sockets("server").bind("server", PORT)
    with pytest.raises(ConnectionRefusedError):
        bench.run(bench.sockets("client").connect("server", PORT))
    with pytest.raises(ListenError):
        bench.sockets("server").bind("server", PORT)
    with pytest.raises(ListenError):
        bench.sockets("server").bind("client", PORT)
    bound.close()
    bench.sockets("server").bind("server", PORT)


def test_a_machine_that_is_off_does_not_answer_until_it_is_on(bench: Bench) -> None:
    async def connect() -> SimulatedSocket:
        async with asyncio.timeout(20):
            return await bench.sockets("client").connect("server", PORT)

    bench.listen("server")
    bench.network.power_off("server")
    with pytest.raises(TimeoutError):
        bench.run(connect())
    bench.loop.call_later(5, bench.network.power_on, "server")
    began_s = bench.loop.time()
    bench.run(connect())
    assert 5 < bench.loop.time() - began_s < 20


def test_a_closed_end_is_an_end_to_the_other(bench: Bench) -> None:
    near, far = bench.pair()
    near.send(b"last words")
    near.close()
    bench.run_for(1)
    assert far.recv(100) == b"last words"
    assert far.recv(100) == b""
    # What is sent to it now is answered with a reset.
    far.send(b"?")
    bench.run_for(1)
    with pytest.raises(ConnectionResetError):
        far.recv(1)
    with pytest.raises(BrokenPipeError):
        far.send(b"?")


def test_closing_with_something_unread_is_a_reset(bench: Bench) -> None:
    near, far = bench.pair()
    near.send(b"never read")
    bench.run_for(1)
    far.close()
    bench.run_for(1)
    with pytest.raises(ConnectionResetError):
        near.recv(1)


def test_a_cut_is_silence_and_nothing_is_lost(bench: Bench) -> None:
    near, far = bench.pair()
    near.send(b"on its way ")
    bench.network.cut("client", "server")
    near.send(b"behind it ")
    far.send(b"the other way")
    bench.run_for(3600)
    assert is_silent(far)
    assert received(near) == b"the other way"
    bench.network.heal("client", "server")
    near.send(b"and after")
    bench.run_for(1)
    assert received(far) == b"on its way behind it and after"


def test_a_slow_way_is_slow_in_its_direction(bench: Bench) -> None:
    near, far = bench.pair()
    bench.network.delay_s["client", "server"] = 5.0
    near.send(b"slow")
    far.send(b"quick")
    bench.run_for(1)
    assert (received(near), is_silent(far)) == (b"quick", True)
    bench.run_for(5)
    assert received(far) == b"slow"


def test_a_connection_cannot_be_made_across_a_cut(bench: Bench) -> None:
    async def connect() -> None:
        async with asyncio.timeout(10):
            await bench.sockets("client").connect("server", PORT)

    listener = bench.listen("server")
    bench.network.cut("client", "server")
    with pytest.raises(TimeoutError):
        bench.run(connect())
    bench.network.heal_all()
    bench.run_for(10)
    # It was given up: nobody is there to be accepted.
    with pytest.raises(BlockingIOError):
        listener.accept()
    bench.run(connect())


def test_a_machine_without_power_leaves_its_peers_half_open(bench: Bench) -> None:
    near, far = bench.pair()
    bench.network.power_off("server")
    near.send(b"anybody?")
    bench.run_for(3600)
    assert is_silent(near)
    assert far.is_gone
    bench.network.power_on("server")
    bench.run_for(1)
    with pytest.raises(ConnectionResetError):
        near.recv(1)


def test_who_sends_too_much_has_to_wait_for_the_reader(bench: Bench) -> None:
    near, far = bench.pair()
    sent = near.send(bytes(2 * WINDOW_BYTES))
    assert sent == WINDOW_BYTES
    with pytest.raises(BlockingIOError):
        near.send(b"more")
    writable: list[float] = []

    def on_writable() -> None:
        writable.append(bench.loop.time())
        bench.loop.remove_writer(near.fileno())

    bench.loop.add_writer(near.fileno(), on_writable)
    bench.run_for(1)
    assert not writable
    assert len(far.recv(1000)) == 1000
    bench.run_for(1)
    assert writable
    assert near.send(bytes(5000)) == 1000


def test_readers_are_called_as_long_as_something_is_there(bench: Bench) -> None:
    near, far = bench.pair()
    seen: list[bytes] = []
    read: Callable[[], None] = lambda: seen.append(far.recv(3))  # noqa: E731
    near.send(b"abcdefg")
    bench.run_for(1)
    bench.loop.add_reader(far.fileno(), read)
    bench.run_for(1)
    assert b"".join(seen) == b"abcdefg"
    bench.loop.remove_reader(far.fileno())
    near.send(b"h")
    bench.run_for(1)
    assert b"".join(seen) == b"abcdefg"


def test_the_same_seed_has_the_same_latencies() -> None:
    digests = set()
    for _ in range(2):
        bench = Bench()
        near, far = bench.pair()
        for number in range(50):
            near.send(bytes(number + 1))
            far.send(bytes(2 * number + 1))
        bench.run_for(1)
        digests.add(bench.network.trace.digest)
    assert len(digests) == 1
