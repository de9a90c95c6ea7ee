"""Requests of the wire protocol by themselves, for what no client can be made to send."""

from __future__ import annotations

import itertools
import socket
import struct
import threading
from concurrent.futures import Future
from typing import Any

from penstock.protocol.entity import Entity
from penstock.protocol.frame import decode_response, encode_request
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.clients.routing import ask_everywhere, find_address


class Connection:
    """One connection, one request at a time. Where several brokers are named, one to each of those
    that a request was for."""

    def __init__(self, bootstrap_servers: str, client_id: str = "raw") -> None:
        self._client_id = client_id
        first, *others = bootstrap_servers.split(",")
        host, port = first.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)
        self._numbers = itertools.count(1)
        self._is_alone = not others
        self._others: dict[str, Connection] = {}

    def call(self, request: Entity, version: int) -> Any:
        if self._is_alone:
            return self._ask(request, version)
        merged = ask_everywhere(request, self._ask, lambda where: self._at(where)._ask, version)
        if merged is not None:
            return merged
        address = find_address(request, self._ask)
        return (self if address is None else self._at(address))._ask(request, version)

    def _at(self, address: str) -> Connection:
        if address not in self._others:
            self._others[address] = Connection(address, self._client_id)
        return self._others[address]

    def _send(self, request: Entity, version: int) -> None:
        self._socket.sendall(encode_request(next(self._numbers), version, request, self._client_id))

    def _ask(self, request: Entity, version: int) -> Any:
        self._send(request, version)
        size = struct.unpack(">i", self._read(4))[0]
        key = type(request).API_KEY
        assert key is not None
        return decode_response(key, version, self._read(size))[1]

    def send(self, request: Entity, version: int) -> None:
        """To where it belongs, and wait for nothing."""
        address = None if self._is_alone else find_address(request, self._ask)
        (self if address is None else self._at(address))._send(request, version)

    def start(self, request: Entity, version: int) -> Future[Any]:
        """Send, and let a thread wait for the answer: joins wait for each other."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(self.call(request, version))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future

    def close(self) -> None:
        self._socket.close()
        for each in self._others.values():
            each.close()

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            assert more, "the broker hung up"
            data += more
        return data
