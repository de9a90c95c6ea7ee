"""A listener with TLS inside this process: bytes as they were, in whatever pieces they come."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.cli.security.authority import Authority
from penstock.network.budget import FrameBudget
from penstock.network.connection_limits import ConnectionLimits
from penstock.network.listener import Limits, Listener
from penstock.network.part import Part
from penstock.network.tls import handshakes
from penstock.network.tls.server import ServerTls
from penstock.network.tls.stream import TlsStream
from penstock.peer.dialer import SocketDialer
from penstock.peer.tls_dialer import TlsDialer
from penstock.security.quota.sample import Windows

Serve = Callable[[Any, memoryview], list[Part]]


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    folder = tmp_path_factory.mktemp("keys")
    authority = Authority.create()
    keystore = folder / "node.pem"
    keystore.write_text(authority.issue("node", hosts=("127.0.0.1",)).keystore)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(str(keystore))
    return server, ssl.create_default_context(cadata=authority.certificate)


@asynccontextmanager
async def listening(context: ssl.SSLContext, serve: Serve) -> AsyncIterator[tuple[Listener, int]]:
    tls = ServerTls("SSL", lambda: context, lambda state, certificate: None)
    loop = asyncio.get_running_loop()
    counted = ConnectionLimits(Windows(), loop.time).of_listener("SSL")
    listener = Listener(
        loop, Limits(), lambda peer: SimpleNamespace(), lambda state: None, counted, tls=tls
    )
    _, port = listener.bind("127.0.0.1", 0)
    listener.start(serve)
    try:
        yield listener, port
    finally:
        listener.stop_accepting()
        await listener.drain(1.0)


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    size = int.from_bytes(await reader.readexactly(4), "big")
    return await reader.readexactly(size)


def test_frames_of_all_sizes_come_back_as_they_were(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    server, client = contexts
    sizes = (1, 100, 16_384, 16_385, 65_532, 65_536, 1_048_576, 5_000_000, 3, 2_000_000)

    async def run() -> None:
        def echo(state: Any, frame: memoryview) -> list[Part]:
            return [framed(bytes(frame))]

        async with listening(server, echo) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client)
            frames = [os.urandom(size) for size in sizes]
            # All at once: what is behind a large frame is decrypted with it.
            writer.write(b"".join(map(framed, frames)))
            for frame in frames:
                assert await asyncio.wait_for(read_frame(reader), 60) == frame
            writer.close()
            await writer.wait_closed()

    asyncio.run(run())


def test_what_is_decrypted_and_not_read_is_looked_at_again(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While memory is tight a few KB are read at a time; the socket has nothing to announce."""
    monkeypatch.setattr(FrameBudget, "is_tight", property(lambda budget: True))
    server, client = contexts
    count = 600

    async def run() -> None:
        def answer(state: Any, frame: memoryview) -> list[Part]:
            return [framed(bytes(frame[:4]))]

        async with listening(server, answer) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client)
            frames = [number.to_bytes(4, "big") + bytes(76) for number in range(count)]
            writer.write(b"".join(map(framed, frames)))
            for number in range(count):
                read = await asyncio.wait_for(read_frame(reader), 60)
                assert int.from_bytes(read, "big") == number
            writer.close()
            await writer.wait_closed()

    asyncio.run(run())


class Range:
    """A part that is a range of a file."""

    def __init__(self, fd: int, position: int, length: int) -> None:
        self.fd = fd
        self.position = position
        self._length = length
        self.released = 0

    def __len__(self) -> int:
        return self._length

    def read(self) -> bytes:
        return os.pread(self.fd, self._length, self.position)

    def release(self) -> None:
        self.released += 1


def test_ranges_of_files_reach_a_client_that_reads_slowly(
    tmp_path: Path, contexts: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    server, client = contexts
    data = os.urandom(9_000_000)
    (tmp_path / "segment").write_bytes(data)
    sizes = (8_000_001, 10, 40_000)
    made: list[Range] = []

    async def run(fd: int) -> None:
        def fetch(state: Any, frame: memoryview) -> list[Part]:
            made.extend(Range(fd, position, size) for position, size in enumerate(sizes))
            header = (sum(sizes) + 4).to_bytes(4, "big")
            return [header, b"head", *made]

        async with listening(server, fetch) as (_, port):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, ssl=client, limit=4096
            )
            writer.write(framed(b"fetch"))
            expected = b"head" + b"".join(
                data[position : position + size] for position, size in enumerate(sizes)
            )
            got = hashlib.sha256(await asyncio.wait_for(read_frame(reader), 60)).digest()
            assert got == hashlib.sha256(expected).digest()
            writer.close()
            await writer.wait_closed()

    with open(tmp_path / "segment", "rb") as file:
        asyncio.run(run(file.fileno()))
    assert [part.released for part in made] == [1, 1, 1]


def test_who_takes_too_long_over_the_handshake_is_ended(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshakes, "SECONDS_MAX", 0.05)
    monkeypatch.setattr(handshakes, "SWEEP_S", 0.05)

    async def run() -> None:
        async with listening(contexts[0], lambda state, frame: []) as (listener, port):
            for said in (b"", b"\x16\x03"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(said)
                assert await asyncio.wait_for(reader.read(), 60) == b""
                writer.close()
                await writer.wait_closed()
            assert listener.handshakes is not None
            assert dict(listener.handshakes.failures.counts()) == {
                ("SSL", "the handshake took too long"): 2
            }
            assert listener.open_count == 0

    asyncio.run(run())


def test_the_dialer_knows_whom_it_calls(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    server, client = contexts

    async def run() -> None:
        async with listening(server, lambda state, frame: []) as (_, port):
            dialer = TlsDialer(SocketDialer(), lambda: client)
            stream = await dialer.connect("127.0.0.1", port)
            assert isinstance(stream, TlsStream) and stream.version == "TLSv1.3"
            stream.close()
            with pytest.raises(ssl.SSLCertVerificationError, match="localhost"):
                await dialer.connect("localhost", port)

    asyncio.run(run())


def test_what_could_not_be_sent_is_not_encrypted_twice(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    """A socket that takes a few bytes at a time, and often none."""
    server, client = contexts
    here, there = socket.socketpair()
    narrow = Narrow(here)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    other = client.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    stream = TlsStream(narrow, server)  # type: ignore[arg-type]
    narrow.is_wide = True
    for _ in range(3):
        try:
            other.do_handshake()
        except ssl.SSLWantReadError:
            stream.feed(outgoing.read())
            stream.shake_hands()
            incoming.write(there.recv(65536))
    stream.feed(outgoing.read())
    assert stream.shake_hands()
    narrow.is_wide = False
    there.setblocking(False)
    data = os.urandom(300_000)
    left, got = memoryview(data), b""
    while left:
        try:
            left = left[stream.sendmsg((left[:1000], left[1000:])) :]
        except BlockingIOError:
            pass
        with suppress(BlockingIOError):
            incoming.write(there.recv(65536))
        try:
            while True:
                got += other.read(65536)
        except ssl.SSLWantReadError:
            pass
    with suppress(BlockingIOError):
        incoming.write(there.recv(65536))
    while len(got) < len(data):
        got += other.read(65536)
    assert got == data
    stream.close()
    there.close()


class Narrow:
    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.is_wide = False
        self._turn = 0

    def send(self, data: Any) -> int:
        if self.is_wide:
            return self._sock.send(data)
        self._turn += 1
        if self._turn % 3:
            raise BlockingIOError
        return self._sock.send(memoryview(data)[:7001])

    def close(self) -> None:
        self._sock.close()
