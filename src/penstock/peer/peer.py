"""Another node, seen from here: connected when first asked something, and again after a loss.

Owns one connection and the pause before the next try. Once it is there, requests go out in the
order of the calls and are answered in that order: what must not wait behind a long poll belongs on
another `Peer`. Never asks a second time: whether a request may be repeated is the caller's to know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from penstock.peer.answer_reader import FRAME_BYTES_MAX
from penstock.peer.backoff import Backoff
from penstock.peer.connection import PeerConnection
from penstock.peer.dialer import Dialer
from penstock.peer.error import PeerError, PeerGone, PeerTimeout
from penstock.peer.handshake import Spoken, learn_versions
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.api_versions import ApiVersionsResponse

CONNECT_TIMEOUT_S = 3.0
"""For the connection and the first answer on it. The system asks again after one second and after
three: a node that was off then is found sooner by another try."""
IN_FLIGHT_MAX = 128
PROBE_TIMEOUT_S = 1.0
SESSION_USED = 0.85
"""Of the time that a login lasts: behind that it is done again, on another connection."""

T = TypeVar("T")


class Peer:
    """`random` gives numbers from 0 up to 1, for pauses that are not everybody's."""

    def __init__(
        self,
        dialer: Dialer,
        host: str,
        port: int,
        *,
        client_id: str,
        random: Callable[[], float],
        frame_bytes_max: int = FRAME_BYTES_MAX,
    ) -> None:
        self.host = host
        self.port = port
        self._dialer = dialer
        self._client_id = client_id
        self._frame_bytes_max = frame_bytes_max
        self._backoff = Backoff(random)
        self._connection: PeerConnection | None = None
        self._spoken: Spoken | None = None
        self._connecting: asyncio.Task[PeerConnection] | None = None
        self._last_failure: PeerGone | PeerTimeout = PeerGone("")
        # Whether anything was answered on this connection, and not only accepted.
        self._is_proven = False
        self._slots = asyncio.Semaphore(IN_FLIGHT_MAX)
        self._watchers: list[Callable[[PeerGone], None]] = []
        self._closed = False

    def __repr__(self) -> str:
        return f"Peer({self.name})"

    @property
    def name(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    # Asking

    async def call(
        self, request: Entity, *, version: int | None = None, timeout_s: float
    ) -> Entity:
        """The answer to it, in the highest version both speak unless one is named. Records in it
        are views of the memory into which they were received."""
        loop = asyncio.get_running_loop()
        timeout_at = loop.time() + timeout_s
        if self._slots.locked():
            await self._within(self._slots.acquire(), timeout_at, "no answer to any call before")
        else:
            await self._slots.acquire()
        try:
            connection = self._connection or await self._connected(timeout_at)
            version = self._settled(request, version)
            response = await connection.ask(request, version, timeout_at)
        finally:
            self._slots.release()
        self._is_proven = True
        self._backoff.reset()
        return response

    async def connect(self, timeout_s: float) -> ApiVersionsResponse:
        """Connects unless it is, and tells what the other node said of itself."""
        if self._connection is None:
            await self._connected(asyncio.get_running_loop().time() + timeout_s)
        assert self._spoken is not None
        return self._spoken.response

    async def version(self, request: type[Entity], timeout_s: float) -> int:
        """In which version such a request would go out."""
        await self.connect(timeout_s)
        assert self._spoken is not None and request.API_KEY is not None
        return self._spoken.highest(API_BY_KEY[request.API_KEY])

    async def probe(self, timeout_s: float = PROBE_TIMEOUT_S) -> bool:
        """Whether the port refuses: then no process listens on it. Silence is no refusal."""
        try:
            async with asyncio.timeout(timeout_s):
                sock = await self._dialer.connect(self.host, self.port)
        except ConnectionRefusedError:
            return True
        except (OSError, TimeoutError):
            return False
        sock.close()
        return False

    def watch(self, on_lost: Callable[[PeerGone], None]) -> Callable[[], None]:
        """Called each time a connection breaks that was not ended from here, in the turn of the
        loop in which that is seen. What it returns ends the watch."""
        self._watchers.append(on_lost)

        def end() -> None:
            with suppress(ValueError):
                self._watchers.remove(on_lost)

        return end

    # Its life

    def move(self, host: str, port: int) -> None:
        """The node has another address now: calls under way fail, the next go there."""
        if (host, port) != (self.host, self.port):
            self._end(f"{self.name}: the node moved to {host}:{port}")
            self.host, self.port = host, port
            self._backoff.reset()

    def close(self) -> None:
        """Calls under way fail, and so does every later one."""
        self._closed = True
        self._end(f"{self.name}: closed from this side")

    def _end(self, reason: str) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close(PeerGone(reason))
        connecting, self._connecting = self._connecting, None
        if connecting is not None:
            self._last_failure = PeerGone(reason)
            connecting.cancel()

    def _settled(self, request: Entity, version: int | None) -> int:
        assert self._spoken is not None and request.API_KEY is not None
        spec = API_BY_KEY[request.API_KEY]
        if version is None:
            return self._spoken.highest(spec)
        self._spoken.check(spec, version)
        return version

    # Connecting

    async def _connected(self, timeout_at: float) -> PeerConnection:
        """Whoever comes first makes the connection; the others wait for the same one."""
        await self._wait_out(timeout_at)
        if self._connection is not None:
            return self._connection
        if self._closed:
            raise PeerGone(f"{self.name}: closed from this side")
        if self._connecting is None:
            task = asyncio.create_task(self._connect(), name=f"connect {self.name}")
            self._connecting = task
            task.add_done_callback(self._on_connect_ended)
        connecting = self._connecting
        try:
            return await self._within(asyncio.shield(connecting), timeout_at, "no connection")
        except asyncio.CancelledError:
            if connecting.cancelled() and not _is_cancelled():
                raise _again(self._last_failure) from None
            raise

    async def _wait_out(self, timeout_at: float) -> None:
        """The pause behind a failure. Whose time is up before it fails as the last one did."""
        loop = asyncio.get_running_loop()
        while not self._closed and (pause_s := self._backoff.ready_at - loop.time()) > 0:
            left_s = timeout_at - loop.time()
            await asyncio.sleep(min(pause_s, max(left_s, 0.0)))
            if pause_s > left_s:
                raise _again(self._last_failure)

    async def _connect(self) -> PeerConnection:
        loop = asyncio.get_running_loop()
        timeout_at = loop.time() + CONNECT_TIMEOUT_S
        connection: PeerConnection | None = None
        try:
            async with asyncio.timeout_at(timeout_at):
                sock = await self._dialer.connect(self.host, self.port)
            connection = PeerConnection(
                loop, sock, self.name, self._client_id, self._on_lost, self._frame_bytes_max
            )
            spoken = await learn_versions(connection, timeout_at)
        except (OSError, PeerError) as error:
            failure = self._failure(error)
            if connection is not None:
                connection.close(PeerGone(str(failure)))
            self._backoff.fail(loop.time())
            self._last_failure = failure
            raise failure from error
        except asyncio.CancelledError:
            if connection is not None:
                connection.close(PeerGone(f"{self.name}: given up"))
            raise
        if connection.error is not None:
            raise connection.error
        self._connection, self._spoken, self._is_proven = connection, spoken, False
        if (session_s := self._dialer.session_s) is not None:
            loop.call_later(SESSION_USED * session_s, self._retire, connection)
        return connection

    def _retire(self, connection: PeerConnection) -> None:
        """Its session is about to end: the next call is made on another."""
        if self._connection is connection:
            self._connection = None
            connection.retire()

    def _failure(self, error: OSError | PeerError) -> PeerGone | PeerTimeout:
        if isinstance(error, PeerGone):
            return error
        if isinstance(error, TimeoutError | PeerTimeout):
            return PeerTimeout(f"{self.name}: no connection within {CONNECT_TIMEOUT_S:g} s")
        reason = getattr(error, "strerror", None) or str(error)
        refused = isinstance(error, ConnectionRefusedError)
        return PeerGone(f"{self.name}: {reason}", refused=refused)

    def _on_connect_ended(self, task: asyncio.Task[PeerConnection]) -> None:
        if self._connecting is task:
            self._connecting = None
        if not task.cancelled():
            # Whoever waited has been told; there may be nobody any more.
            task.exception()

    def _on_lost(self, error: PeerGone) -> None:
        if self._connection is None:
            return  # while it was being made: that fails by itself
        self._connection = None
        self._last_failure = error
        if not self._is_proven:
            self._backoff.fail(asyncio.get_running_loop().time())
        for watcher in list(self._watchers):
            watcher(error)

    async def _within(self, awaitable: Awaitable[T], timeout_at: float, what: str) -> T:
        try:
            async with asyncio.timeout_at(timeout_at):
                return await awaitable
        except TimeoutError:
            raise PeerTimeout(f"{self.name}: {what}") from None


def _is_cancelled() -> bool:
    """Whether it is the caller who is to end, and not what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _again(failure: PeerGone | PeerTimeout) -> PeerGone | PeerTimeout:
    """An error of its own for everyone who is told of it."""
    if isinstance(failure, PeerGone):
        return PeerGone(str(failure), refused=failure.refused)
    return PeerTimeout(str(failure))
