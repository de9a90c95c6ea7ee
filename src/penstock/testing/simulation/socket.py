"""Simulated sockets, with as much of a real one as `network` and `peer` use, and their factory."""

from __future__ import annotations

import asyncio
import errno
import os
import socket as real
from collections import deque
from collections.abc import Iterable
from typing import Any

from penstock.network.sockets import Bytes, ListenError
from penstock.storage.disk import Disk
from penstock.testing.simulation.network import Kind, Network, Pipe
from penstock.testing.simulation.process import CURRENT

WINDOW_BYTES = 256 * 1024
"""What may be on its way, or wait to be read at the other end."""
FIRST_FREE_PORT = 30_000


class SimulatedSocket:
    """One end of a connection; the other is its `peer`."""

    peer: SimulatedSocket

    def __init__(self, network: Network, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self.is_gone = False
        """Closed, or lost with its machine."""
        self.outgoing = Pipe(network, self)
        self._network = network
        self._loop = network.loop
        self._fd = network.loop.register(self)
        self._inbox = bytearray()
        self._ended = False
        self._is_reset = False
        network.add(self)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    # What the loop asks

    @property
    def is_readable(self) -> bool:
        return bool(self._inbox) or self._ended or self._is_reset

    @property
    def is_writable(self) -> bool:
        return self._is_reset or self._room > 0

    @property
    def _room(self) -> int:
        return WINDOW_BYTES - self.outgoing.queued_bytes - len(self.peer._inbox)

    # What the network does

    def receive(self, kind: Kind, data: bytes) -> None:
        if self.is_gone:
            if kind is Kind.DATA:
                self.outgoing.send(Kind.RESET)
            return
        if kind is Kind.DATA:
            self._inbox += data
        elif kind is Kind.END:
            self._ended = True
        else:
            self._is_reset = True
            self._inbox.clear()
        self._loop.look(self._fd)

    def vanish(self) -> None:
        self.is_gone = True
        self._network.forget(self)
        self._loop.unregister(self._fd)

    # What a socket does

    def fileno(self) -> int:
        return self._fd

    def recv(self, bytes_max: int, flags: int = 0, /) -> bytes:
        self._check_readable()
        data = bytes(self._inbox[:bytes_max])
        if not flags & real.MSG_PEEK:
            self._took(len(data))
        return data

    def recv_into(self, buffer: bytearray | memoryview, /) -> int:
        self._check_readable()
        count = min(len(buffer), len(self._inbox))
        buffer[:count] = self._inbox[:count]
        self._took(count)
        return count

    def send(self, data: Bytes, /) -> int:
        return self.sendmsg((data,))

    def sendmsg(
        self, buffers: Iterable[Bytes], ancillary: Iterable[Any] = (), flags: int = 0, /
    ) -> int:
        self._check_open()
        if self._is_reset:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        if self._room <= 0:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        data = b"".join(buffers)[: self._room]
        self.outgoing.send(Kind.DATA, data)
        return len(data)

    def setblocking(self, flag: bool, /) -> None:
        assert not flag, "nothing blocks here"

    def setsockopt(self, level: int, option: int, value: int, /) -> None:
        """Changes nothing here."""

    def close(self) -> None:
        """With a reset where something was left unread, as the system does it."""
        if not self.is_gone:
            self.vanish()
            if not self._is_reset:
                self.outgoing.send(Kind.RESET if self._inbox else Kind.END)

    def _took(self, count: int) -> None:
        del self._inbox[:count]
        if count and not self.peer.is_gone:
            self._loop.look(self.peer._fd)

    def _check_open(self) -> None:
        if self.is_gone:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def _check_readable(self) -> None:
        self._check_open()
        if self._is_reset:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        if not self._inbox and not self._ended:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


class SimulatedListener:
    def __init__(self, network: Network, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self.is_listening = False
        self.is_writable = False
        self._network = network
        self._fd = network.loop.register(self)
        self._waiting: deque[SimulatedSocket] = deque()

    @property
    def is_readable(self) -> bool:
        return bool(self._waiting)

    def fileno(self) -> int:
        return self._fd

    def getsockname(self) -> tuple[str, int]:
        return self.host, self.port

    def setblocking(self, flag: bool, /) -> None:
        assert not flag, "nothing blocks here"

    def listen(self, backlog: int, /) -> None:
        self.is_listening = True

    def accept(self) -> tuple[SimulatedSocket, tuple[str, int]]:
        if not self._waiting:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        sock = self._waiting.popleft()
        return sock, (sock.peer.host, sock.peer.port)

    def close(self) -> None:
        self.vanish()
        while self._waiting:
            self._waiting.popleft().close()

    def vanish(self) -> None:
        self._network.loop.unregister(self._fd)
        self._network.listeners.pop((self.host, self.port), None)

    def offer(self, sock: SimulatedSocket) -> None:
        self._waiting.append(sock)
        self._network.loop.look(self._fd)


class HostSockets:
    """The network as a process of one host sees it: `network.Sockets` and `peer.Dialer`."""

    has_sendfile = True
    session_s = None

    def __init__(self, network: Network, host: str, disk: Disk) -> None:
        self._network = network
        self._host = host
        self._disk = disk

    def bind(self, host: str, port: int, /) -> SimulatedListener:
        listeners = self._network.listeners
        if host != self._host:
            raise ListenError(f"cannot listen on {host}:{port}: this is {self._host}")
        if not port:
            port = FIRST_FREE_PORT
            while (host, port) in listeners:
                port += 1
        elif (host, port) in listeners:
            raise ListenError(f"{host}:{port} is in use by another process")
        listener = listeners[host, port] = SimulatedListener(self._network, host, port)
        return listener

    def sendfile(self, socket_fd: int, file_fd: int, position: int, count: int, /) -> int:
        sock = self._network.loop.socket(socket_fd)
        assert isinstance(sock, SimulatedSocket)
        data = self._disk.pread(file_fd, count, position)
        return sock.send(data) if data else 0

    async def connect(self, host: str, port: int, /) -> SimulatedSocket:
        """Hangs where no answer comes: whoever connects has a time limit."""
        network = self._network
        answer: asyncio.Future[SimulatedSocket] = network.loop.create_future()
        connecting = _Connecting(network, self._host, (host, port), answer)
        network.post(self._host, host, connecting.arrive)
        try:
            return await answer
        except asyncio.CancelledError:
            connecting.give_up()
            raise


class _Connecting:
    """A connection that is asked for, accepted or refused, and told of."""

    def __init__(
        self,
        network: Network,
        host: str,
        address: tuple[str, int],
        answer: asyncio.Future[SimulatedSocket],
    ) -> None:
        self._network = network
        self._host = host
        self._address = address
        self._answer = answer
        self._process = CURRENT.get()
        self._sock: SimulatedSocket | None = None
        self._is_given_up = False

    def arrive(self) -> None:
        network, (host, port) = self._network, self._address
        if self._is_given_up or not (self._process is None or self._process.alive):
            return
        listener = network.listeners.get(self._address)
        name = f"{self._host} > {host}:{port}"
        if listener is None or not listener.is_listening or host in network.refusing:
            network.trace.note(f"{name} refused")
            network.post(host, self._host, self._refuse)
            return
        network.trace.note(f"{name} accepted")
        near = SimulatedSocket(network, self._host, network.client_port(self._host))
        far = SimulatedSocket(network, host, port)
        near.peer, far.peer = far, near
        self._sock = near
        listener.offer(far)
        network.post(host, self._host, self._accept)

    def give_up(self) -> None:
        self._is_given_up = True
        if self._sock is not None:
            self._sock.close()

    def _accept(self) -> None:
        assert self._sock is not None
        if self._answer.done():
            self._sock.close()
        else:
            self._answer.set_result(self._sock)

    def _refuse(self) -> None:
        if not self._answer.done():
            self._answer.set_exception(
                ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
            )
