"""A client connection over TLS: as any other, and looks again at what the loop cannot announce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.network.budget import FrameBudget
from penstock.network.connection import Connection, Serve
from penstock.network.tls.stream import TlsStream
from penstock.network.tls.writer import TlsWriter

if TYPE_CHECKING:
    from penstock.network.listener import Listener


class TlsConnection(Connection):
    __slots__ = ("_is_to_look", "_stream")

    def __init__(
        self,
        stream: TlsStream,
        peer: str,
        listener: Listener,
        serve: Serve,
        budget: FrameBudget,
        frame_bytes_max: int,
        state: Any,
    ) -> None:
        super().__init__(stream, peer, listener, serve, budget, frame_bytes_max, state)
        self._stream = stream
        self._writer = TlsWriter(stream, self._tally)
        self._is_to_look = False
        self._look_again()

    def _on_readable(self) -> None:
        super()._on_readable()
        self._look_again()

    def _resume(self) -> None:
        super()._resume()
        self._look_again()

    def _look_again(self) -> None:
        if not self._stream.is_drained and not self._is_to_look and self._may_read:
            self._is_to_look = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        self._is_to_look = False
        if self._may_read:
            self._on_readable()

    @property
    def _may_read(self) -> bool:
        return not (self.closed or self._paused or self.draining)
