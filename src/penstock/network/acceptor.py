"""Takes connections from a listening socket, as long as there are file descriptors for them.

When there are none, those who want to connect wait in the system's queue: the socket is not looked
at again until some connections have ended, or a second has passed. That is logged once when it
begins and once when it is over. It is the same while there are as many connections as there may be,
or while they come too fast. Owns the listening socket; what becomes of a connection is others'
business.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from penstock.network.connection_limits import ListenerLimits
from penstock.network.sockets import ListeningSocket, StreamSocket
from penstock.telemetry.log import get_logger

ACCEPTS_PER_EVENT = 64
BACKLOG = 4096
"""Whoever finds no room in it tries again after a second: thousands may come at once."""
RETRY_S = 1.0

log = get_logger("network")


class Acceptor:
    """A connection whose descriptor is `descriptors_max` or above is the last one for now: the
    system gives out the lowest number that is free."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: ListeningSocket,
        admit: Callable[[StreamSocket, str], None],
        descriptors_max: int,
        limits: ListenerLimits,
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._admit = admit
        self._descriptors_max = descriptors_max
        self._limits = limits
        self._delayed: tuple[asyncio.TimerHandle, StreamSocket] | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._resume_at = 0
        self._is_short = False
        sock.listen(BACKLOG)
        loop.add_reader(sock.fileno(), self._on_acceptable)

    def close(self) -> None:
        self._loop.remove_reader(self._sock.fileno())
        self._sock.close()
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        if self._delayed is not None:
            timer, sock = self._delayed
            timer.cancel()
            sock.close()
        self._limits.on_room = None

    def on_closed(self, connection_count: int) -> None:
        """One connection less. Not worth looking again for every single one."""
        if self._retry is not None:
            if not self._resume_at:
                self._resume_at = connection_count - connection_count // 16
            if connection_count <= self._resume_at:
                self._resume()

    def _on_acceptable(self) -> None:
        for _ in range(ACCEPTS_PER_EVENT):
            if not self._limits.has_room:
                self._wait_for_room()
                return
            try:
                sock, address = self._sock.accept()
            except BlockingIOError:
                self._note_nobody_waits()
                return
            except (InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._pause(str(error))
                return
            descriptor, peer = sock.fileno(), f"{address[0]}:{address[1]}"
            delay_s = self._limits.delay_s()
            if delay_s:
                self._delay(sock, peer, delay_s)
                return
            self._admit(sock, peer)
            if descriptor >= self._descriptors_max:
                self._pause(f"{descriptor} file descriptors are in use")
                return

    def _wait_for_room(self) -> None:
        self._loop.remove_reader(self._sock.fileno())
        self._limits.on_room = self._on_room
        if not self._is_short:
            self._is_short = True
            log.warning("new connections have to wait", reason="max.connections is reached")

    def _on_room(self) -> None:
        self._limits.on_room = None
        self._loop.add_reader(self._sock.fileno(), self._on_acceptable)

    def _delay(self, sock: StreamSocket, peer: str, delay_s: float) -> None:
        self._loop.remove_reader(self._sock.fileno())
        timer = self._loop.call_later(delay_s, self._go_on, sock, peer)
        self._delayed = (timer, sock)

    def _go_on(self, sock: StreamSocket, peer: str) -> None:
        self._delayed = None
        self._loop.add_reader(self._sock.fileno(), self._on_acceptable)
        self._admit(sock, peer)

    def _note_nobody_waits(self) -> None:
        if self._is_short:
            self._is_short = False
            log.info("connections are accepted again")

    def _pause(self, reason: str) -> None:
        if not self._is_short:
            self._is_short = True
            log.warning("new connections have to wait", reason=reason)
        self._loop.remove_reader(self._sock.fileno())
        self._resume_at = 0
        self._retry = self._loop.call_later(RETRY_S, self._resume)

    def _resume(self) -> None:
        if self._retry is None:
            return
        self._retry.cancel()
        if self._is_descriptor_free():
            self._retry = None
            self._loop.add_reader(self._sock.fileno(), self._on_acceptable)
        else:
            self._retry = self._loop.call_later(RETRY_S, self._resume)

    def _is_descriptor_free(self) -> bool:
        try:
            descriptor = os.dup(self._sock.fileno())
        except OSError:
            return False
        os.close(descriptor)
        return descriptor < self._descriptors_max
