"""The sockets everything in `network` is given instead of making them itself.

`RealSockets` are the operating system's: what it hands out are `socket.socket` objects, so that a
call on them costs no more than ever. The protocols name what is asked of a socket and no more, so
that a simulated network can stand in for the real one.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterable
from typing import Any, Protocol

from penstock.model.error import PenstockError

Bytes = bytes | bytearray | memoryview


class StreamSocket(Protocol):
    """One end of a connection; never blocks, but raises BlockingIOError."""

    def fileno(self) -> int: ...
    def recv(self, bytes_max: int, flags: int = ..., /) -> bytes: ...
    def recv_into(self, buffer: bytearray | memoryview, /) -> int: ...
    def send(self, data: Bytes, /) -> int: ...
    def sendmsg(
        self, buffers: Iterable[Bytes], ancillary: Iterable[Any] = ..., flags: int = ..., /
    ) -> int: ...
    def setblocking(self, flag: bool, /) -> None: ...
    def setsockopt(self, level: int, option: int, value: int, /) -> None: ...
    def close(self) -> None: ...


class ListeningSocket(Protocol):
    def fileno(self) -> int: ...
    def getsockname(self) -> Any: ...
    def listen(self, backlog: int, /) -> None: ...
    def accept(self) -> tuple[StreamSocket, Any]: ...
    def setblocking(self, flag: bool, /) -> None: ...
    def close(self) -> None: ...


class Sockets(Protocol):
    @property
    def has_sendfile(self) -> bool:
        """Whether ranges of files go out by `sendfile`; elsewhere they are read first."""

    def bind(self, host: str, port: int, /) -> ListeningSocket:
        """Takes the address, or raises ListenError."""
        ...

    def sendfile(self, socket_fd: int, file_fd: int, position: int, count: int, /) -> int: ...


class ListenError(PenstockError):
    """The address cannot be listened on, such as when another process does."""


class RealSockets:
    has_sendfile = sys.platform.startswith("linux") and hasattr(os, "sendfile")
    if has_sendfile:
        sendfile = staticmethod(os.sendfile)

    @staticmethod
    def bind(host: str, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((host, port))
        except OSError as error:
            sock.close()
            if error.errno == errno.EADDRINUSE:
                raise ListenError(
                    f"{host}:{port} is in use by another process: stop it or choose another "
                    "--listen"
                ) from None
            raise ListenError(f"cannot listen on {host}:{port}: {error.strerror}") from error
        return sock


def has_hung_up(sock: StreamSocket) -> bool:
    """The other side, while nothing was read for a while."""
    try:
        return not sock.recv(1, socket.MSG_PEEK)
    except (BlockingIOError, InterruptedError):
        return False
    except OSError:
        return True
