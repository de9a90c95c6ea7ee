"""Takes connections from a listening socket, as long as there are file descriptors for them.

When there are none, those who want to connect wait in the system's queue: the socket is not looked
at again until some connections have ended, or a second has passed. That is logged once when it
begins and once when it is over. Owns the listening socket; what becomes of a connection is others'
business.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

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
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._admit = admit
        self._descriptors_max = descriptors_max
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

    def on_closed(self, connection_count: int) -> None:
        """One connection less. Not worth looking again for every single one."""
        if self._retry is not None:
            if not self._resume_at:
                self._resume_at = connection_count - connection_count // 16
            if connection_count <= self._resume_at:
                self._resume()

    def _on_acceptable(self) -> None:
        for _ in range(ACCEPTS_PER_EVENT):
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
            descriptor = sock.fileno()
            self._admit(sock, f"{address[0]}:{address[1]}")
            if descriptor >= self._descriptors_max:
                self._pause(f"{descriptor} file descriptors are in use")
                return

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
