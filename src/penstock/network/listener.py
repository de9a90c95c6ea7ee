"""Accepts connections on one address and keeps the set of them.

Closes idle ones, refuses those who may not have another, and drains all of them at shutdown.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from penstock.network.acceptor import Acceptor
from penstock.network.budget import FrameBudget
from penstock.network.connection import QUEUED_BYTES_MIN, Connection, Serve
from penstock.network.connection_limits import ListenerLimits, Oldest, Refused
from penstock.network.held import HeldWrites
from penstock.network.sockets import ListeningSocket, RealSockets, Sockets, StreamSocket
from penstock.network.turn import Turn
from penstock.network.writer import AnswerTally
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from penstock.network.tls.handshakes import Handshakes
    from penstock.network.tls.server import ServerTls
    from penstock.network.tls.stream import TlsStream

RECEIVE_BUFFER_BYTES = 1024 * 1024
SLICE_S = 0.02
"""For how long what was sent ahead is served before others have their turn."""
QUEUED_BYTES_MAX = 4 * 1024 * 1024
"""What may wait to be sent on one connection, as long as it is not too much over all of them."""
TICK_S = 0.1
DEAF_S_MAX = 2.0
"""For how long a client may read nothing while others wait for the memory of its answers."""

log = get_logger("network")


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one listener, by the settings."""

    frame_bytes_max: int = 100 * 1024 * 1024
    total_frame_bytes_max: int = 256 * 1024 * 1024
    idle_ms_max: int = 600_000
    descriptors_max: int = 2**31 - 1
    """From this number on a file descriptor is not for a connection."""


class Listener:
    """With `tls`, connections begin with a handshake, and plain text is refused."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        limits: Limits,
        new_state: Callable[[str], Any],
        end_state: Callable[[Any], None],
        connection_limits: ListenerLimits,
        sockets: Sockets | None = None,
        now_s: Callable[[], float] = perf_counter,
        tls: ServerTls | None = None,
    ) -> None:
        self.loop = loop
        self.now_s = now_s
        self.sockets = sockets or RealSockets()
        self.budget = FrameBudget(limits.total_frame_bytes_max, loop.time)
        self.budget.on_tight = self._watch_memory
        self._is_watching_memory = False
        self.answers = AnswerTally()
        self.turn = Turn(loop.call_soon, self._has_room_for_answers)
        """Of requests over many elements."""
        self._backlog: deque[Connection] = deque()
        self.held = HeldWrites()
        self.receive_buffer = memoryview(bytearray(RECEIVE_BUFFER_BYTES))
        self.connections: dict[Connection, None] = {}
        self.accepted_count = 0
        self._received_bytes_closed = 0
        self._sent_bytes_closed = 0
        self._limits = limits
        self._connection_limits = connection_limits
        self._sent_away: dict[StreamSocket, asyncio.TimerHandle] = {}
        connection_limits.oldest = self._oldest
        self._serve: Serve | None = None
        self._new_state = new_state
        self._end_state = end_state
        self.on_open: Callable[[Connection], None] | None = None
        """Told of each connection before anything is read from it."""
        self._sock: ListeningSocket | None = None
        self._acceptor: Acceptor | None = None
        self._sweep: asyncio.TimerHandle | None = None
        self._tls = tls
        self.handshakes: Handshakes | None = None
        if tls is not None:
            from penstock.network.tls.handshakes import Handshakes

            self.handshakes = Handshakes(
                loop, tls.listener, tls.context, self._admit_secure, self._leave
            )

    def bind(self, host: str, port: int) -> tuple[str, int]:
        """Takes the address, so that a second process fails at once. Nobody is let in yet."""
        self._sock = sock = self.sockets.bind(host, port)
        sock.setblocking(False)
        name = sock.getsockname()
        return name[0], name[1]

    def start(self, serve: Serve) -> None:
        assert self._sock is not None
        self._serve = serve
        self._acceptor = Acceptor(
            self.loop,
            self._sock,
            self._admit,
            self._limits.descriptors_max,
            self._connection_limits,
        )
        self._schedule_sweep()

    @property
    def sent_bytes(self) -> int:
        return self._sent_bytes_closed + sum(c.sent_bytes for c in self.connections)

    @property
    def received_bytes(self) -> int:
        return self._received_bytes_closed + sum(c.received_bytes for c in self.connections)

    @property
    def slice_s(self) -> float:
        """For how long what one connection sent ahead may be served now."""
        return SLICE_S / (1 + len(self._backlog))

    def go_on_soon(self, connection: Connection) -> None:
        """Some of its requests were read and not served yet."""
        if not self._backlog:
            self.loop.call_soon(self._go_on)
        self._backlog.append(connection)

    def _go_on(self) -> None:
        """In turn. Those who did not send ahead come first: they are served when they are read."""
        now_s = self.now_s
        until = now_s() + SLICE_S
        for _ in range(len(self._backlog)):
            self._backlog.popleft().go_on()
            if now_s() > until:
                break
        if self._backlog:
            self.loop.call_soon(self._go_on)

    @property
    def queued_bytes_max(self) -> int:
        """Of one connection. Answers have the same bound over all connections as requests."""
        return QUEUED_BYTES_MIN if self._is_full_of_answers else QUEUED_BYTES_MAX

    @property
    def _is_full_of_answers(self) -> bool:
        return self.answers.memory_bytes >= self._limits.total_frame_bytes_max

    def _has_room_for_answers(self) -> bool:
        if self._is_full_of_answers:
            self._watch_memory()
            return False
        return True

    def _watch_memory(self) -> None:
        if not self._is_watching_memory:
            self._is_watching_memory = True
            self.loop.call_later(TICK_S, self._tick)

    def _tick(self) -> None:
        self._is_watching_memory = False
        if self.budget.tick():
            self._watch_memory()
        if self.turn.is_waited_for:
            if self._is_full_of_answers:
                self._close_deaf()
                self._watch_memory()
            self.turn.look()

    def _close_deaf(self) -> None:
        """Others wait to be asked: who does not read the answers loses them."""
        oldest = self.loop.time() - DEAF_S_MAX
        for connection in list(self.connections):
            if connection.active_at < oldest and connection.unread_bytes >= QUEUED_BYTES_MIN:
                connection.close("does not read its answers while others wait for their memory")

    def stop_accepting(self) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
            self._acceptor = None
        elif self._sock is not None:
            self._sock.close()
        self._sock = None
        if self.handshakes is not None:
            self.handshakes.close()
        for sock in list(self._sent_away):
            self._close_sent_away(sock)
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None

    async def drain(self, timeout_s: float) -> None:
        """Lets the requests under way finish, then closes whatever is left."""
        for connection in list(self.connections):
            connection.drain()
        deadline = self.loop.time() + timeout_s
        while self.connections and self.loop.time() < deadline:
            await asyncio.sleep(0.01)
        for connection in list(self.connections):
            connection.close()

    def forget(self, connection: Connection) -> None:
        self.connections.pop(connection, None)
        self._sent_bytes_closed += connection.sent_bytes
        self._received_bytes_closed += connection.received_bytes
        self._end_state(connection.state)
        self._leave(connection.peer)
        if self._acceptor is not None:
            self._acceptor.on_closed(len(self.connections))

    def _admit(self, sock: StreamSocket, peer: str) -> None:
        try:
            self._connection_limits.enter(address_of(peer))
        except Refused as refused:
            self._send_away(sock, refused.wait_s)
            return
        assert self._serve is not None
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.accepted_count += 1
        if self.handshakes is not None:
            self.handshakes.begin(sock, peer)
            return
        connection = Connection(
            sock,
            peer,
            self,
            self._serve,
            self.budget,
            self._limits.frame_bytes_max,
            self._new_state(peer),
        )
        self._open(connection)

    def _open(self, connection: Connection) -> None:
        self.connections[connection] = None
        if self.on_open is not None:
            self.on_open(connection)

    def _send_away(self, sock: StreamSocket, wait_s: float) -> None:
        """Whoever comes too often is kept waiting: at once it would only come again."""
        if not wait_s:
            sock.close()
            return
        self._sent_away[sock] = self.loop.call_later(wait_s, self._close_sent_away, sock)

    def _close_sent_away(self, sock: StreamSocket) -> None:
        self._sent_away.pop(sock).cancel()
        sock.close()

    def _oldest(self) -> Oldest | None:
        """The connection that was used least lately."""
        if not self.connections:
            return None
        found = min(self.connections, key=lambda each: each.active_at)
        return found.active_at, lambda: found.close("max.connections is reached")

    def _admit_secure(self, stream: TlsStream, peer: str) -> None:
        from penstock.network.tls.connection import TlsConnection

        assert self._serve is not None and self._tls is not None
        state = self._new_state(peer)
        self._tls.introduce(state, stream.certificate)
        connection = TlsConnection(
            stream, peer, self, self._serve, self.budget, self._limits.frame_bytes_max, state
        )
        self._open(connection)

    @property
    def open_count(self) -> int:
        """Connections, and those that are not through the handshake yet."""
        return self._connection_limits.count

    def _leave(self, peer: str) -> None:
        """Also of those that did not come through the handshake."""
        self._connection_limits.leave(address_of(peer))

    def _schedule_sweep(self) -> None:
        interval_s = max(0.05, min(30.0, self._limits.idle_ms_max / 4000))
        self._sweep = self.loop.call_later(interval_s, self._close_idle)

    def _close_idle(self) -> None:
        oldest = self.loop.time() - self._limits.idle_ms_max / 1000
        idle = [c for c in self.connections if c.active_at < oldest and not c.is_waiting]
        for connection in idle:
            connection.close(f"idle for more than {self._limits.idle_ms_max} ms")
        self._schedule_sweep()


def address_of(peer: str) -> str:
    """Of `address:port`; one of IPv4 in the form of IPv6 is the same as in its own."""
    address = peer.rpartition(":")[0]
    return address.removeprefix("::ffff:") if "." in address else address
