"""A connection to a node that is held open while it restarts.

When it breaks, the old process is gone, whatever anybody says and however soon the new one is
there. A request now and then keeps the node from closing it for want of use.
"""

from __future__ import annotations

import socket
import time

from penstock.protocol.frame import encode_request
from penstock.protocol.messages.api_versions import ApiVersionsRequest

_KEEP_S = 30.0
_LOOK_S = 0.5


class HeldConnection:
    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._socket.settimeout(_LOOK_S)
        self._used_s = time.monotonic()
        self._broken = False

    def __enter__(self) -> HeldConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def broken(self) -> bool:
        """Waits a moment for it."""
        if not self._broken:
            try:
                self._keep()
                self._broken = self._socket.recv(1 << 16) == b""
            except TimeoutError:
                pass
            except OSError:
                self._broken = True
        return self._broken

    def _keep(self) -> None:
        if time.monotonic() >= self._used_s + _KEEP_S:
            self._used_s = time.monotonic()
            self._socket.sendall(encode_request(1, 0, ApiVersionsRequest(), "penstock-cli"))
