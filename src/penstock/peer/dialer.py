"""Makes connections to other nodes. A simulated network has a dialer of its own."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Protocol

from penstock.network.sockets import StreamSocket

AddressFound = tuple[Any, Any, int, str, Any]


class Dialer(Protocol):
    @property
    def session_s(self) -> float | None:
        """For how long the connection that was made last may be used; None: for ever."""
        ...

    async def connect(self, host: str, port: int, /) -> StreamSocket:
        """A connected socket that does not block, or OSError: ConnectionRefusedError where nobody
        listens."""
        ...


class SocketDialer:
    """Tries every address of the name in turn. Names it in the error only when all refused it."""

    session_s = None

    async def connect(self, host: str, port: int) -> socket.socket:
        failures: list[OSError] = []
        for family, kind, protocol, _, address in await _resolve(host, port):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                await asyncio.get_running_loop().sock_connect(sock, address)
            except OSError as error:
                sock.close()
                failures.append(error)
            except BaseException:
                sock.close()
                raise
            else:
                return sock
        raise _worst(failures)


async def _resolve(host: str, port: int) -> list[AddressFound]:
    """Numbers are read here and now; only for a name somebody has to be asked."""
    try:
        return list(
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        )
    except socket.gaierror:
        loop = asyncio.get_running_loop()
        return list(await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))


def _worst(failures: list[OSError]) -> OSError:
    """A refusal counts only where every address refuses."""
    others = [one for one in failures if not isinstance(one, ConnectionRefusedError)]
    return (others or failures or [OSError("the name has no address")])[0]
