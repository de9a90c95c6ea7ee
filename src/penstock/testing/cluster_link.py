"""A proxy between nodes, so that what one sends to another can be held back or refused.

Nodes are told its ports in place of each other's. Which node a connection comes from is found out
by whose socket it is, which Linux tells in /proc.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from penstock.testing.port import HOST, free_port
from penstock.testing.socket_owner import has_socket, socket_inode

Direction = tuple[int, int]
"""From which node to which."""

_CHUNK_BYTES = 1 << 16
_EFFECT_S = 60.0
_BACKLOG = 100


@dataclass(slots=True)
class _Door:
    """A port of the proxy, and the node's own behind it."""

    node: int
    port: int
    target: int
    listener: socket.socket | None = None


@dataclass(slots=True, eq=False)
class _Connection:
    """`caller` is None for one that is no node: nothing is kept from it."""

    caller: int | None
    node: int
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def abort(self) -> None:
        for writer in self.writers:
            reset(writer)


class Links:
    """All calls return when they have taken effect. `process_of` tells a running node's process."""

    def __init__(self, process_of: Callable[[int], int | None]) -> None:
        self._process_of = process_of
        self._doors: list[_Door] = []
        self._connections: set[_Connection] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._reset: set[Direction] = set()
        self._silent: dict[Direction, asyncio.Event] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="links", daemon=True)
        self._thread.start()

    def add(self, node: int, target: int) -> int:
        """A port that leads to one of a node's; it refuses until the node is opened."""
        door = _Door(node, free_port(), target)
        self._doors.append(door)
        return door.port

    def open(self, node: int) -> None:
        self._do(self._open(node))

    def shut(self, node: int) -> None:
        """Its process has ended: refuse, and leave nobody waiting for it."""
        self._do(self._shut(node))

    def cut(self, source: int, destination: int, *, silent: bool) -> None:
        self._do(self._cut((source, destination), silent))

    def mend(self, one: int, other: int) -> None:
        self._do(self._mend({(one, other), (other, one)}))

    def heal(self) -> None:
        self._do(self._heal())

    def close(self) -> None:
        if self._thread.is_alive():
            self._do(self._close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        if not self._thread.is_alive():
            work.close()
            return
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_EFFECT_S)

    # In the proxy's own thread

    async def _open(self, node: int) -> None:
        for door in self._doors:
            if door.node == node and door.listener is None:
                door.listener = socket.create_server((HOST, door.port), backlog=_BACKLOG)
                door.listener.setblocking(False)
                self._loop.add_reader(door.listener, self._accept, door)

    async def _shut(self, node: int) -> None:
        for door in self._doors:
            if door.node == node and door.listener is not None:
                self._loop.remove_reader(door.listener)
                door.listener.close()
                door.listener = None
        for connection in list(self._connections):
            if connection.node == node:
                self._abort_unless_silent(connection)

    def _abort_unless_silent(self, connection: _Connection) -> None:
        # A node that is cut off cannot be heard dying.
        back = (connection.node, connection.caller)
        if back not in self._silent:
            connection.abort()

    async def _cut(self, direction: Direction, silent: bool) -> None:
        if silent:
            self._silent.setdefault(direction, asyncio.Event())
            return
        self._reset.add(direction)
        for connection in list(self._connections):
            if {connection.caller, connection.node} == set(direction):
                connection.abort()

    async def _heal(self) -> None:
        await self._mend({*self._reset, *self._silent})

    async def _mend(self, directions: set[Direction]) -> None:
        self._reset -= directions
        for direction in directions:
            event = self._silent.pop(direction, None)
            if event is not None:
                event.set()

    async def _close(self) -> None:
        await self._heal()
        for node in {door.node for door in self._doors}:
            await self._shut(node)
        while self._serving:
            serving = list(self._serving)
            for task in serving:
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)

    def _accept(self, door: _Door) -> None:
        """By hand: asyncio's server, closed at the wrong moment, leaves behind what it has just
        accepted."""
        assert door.listener is not None
        try:
            own, _ = door.listener.accept()
        except OSError:
            return  # it has hung up already
        task = self._loop.create_task(self._take(door, own))
        self._serving.add(task)
        task.add_done_callback(partial(self._on_ended, own))

    def _on_ended(self, own: socket.socket, task: asyncio.Task[None]) -> None:
        """Also when it was cancelled before it began."""
        self._serving.discard(task)
        own.close()

    async def _take(self, door: _Door, own: socket.socket) -> None:
        own.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=own)
        try:
            await self._serve(door, reader, writer)
        finally:
            writer.transport.abort()

    async def _serve(
        self, door: _Door, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        peer = writer.get_extra_info("peername")
        if peer is None:
            return  # it has hung up already
        caller = self._owner(peer[1], door.port)
        if (caller, door.node) in self._reset or (door.node, caller) in self._reset:
            reset(writer)
            return
        try:
            inner_reader, inner_writer = await asyncio.open_connection(HOST, door.target)
        except OSError:
            reset(writer)
            return
        connection = _Connection(caller, door.node, [writer, inner_writer])
        self._connections.add(connection)
        for each in connection.writers:
            each.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pumps = [
            asyncio.create_task(self._pump(reader, inner_writer, (caller, door.node))),
            asyncio.create_task(self._pump(inner_reader, writer, (door.node, caller))),
        ]
        self._serving.update(pumps)
        try:
            await asyncio.wait(pumps)
        finally:
            self._serving.difference_update(pumps)
            self._connections.discard(connection)
            connection.abort()
            for pump in pumps:
                pump.cancel()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        direction: tuple[int | None, int | None],
    ) -> None:
        try:
            while data := await reader.read(_CHUNK_BYTES):
                await self._pass(direction)
                writer.write(data)
                await writer.drain()
            await self._pass(direction)
            writer.close()
        except OSError:
            await self._pass(direction)
            reset(writer)

    async def _pass(self, direction: tuple[int | None, int | None]) -> None:
        event = self._silent.get(direction)  # type: ignore[arg-type]
        if event is not None:
            await event.wait()

    def _owner(self, port: int, door: int) -> int | None:
        inode = socket_inode((HOST, port), (HOST, door))
        for node in sorted({each.node for each in self._doors}) if inode else ():
            pid = self._process_of(node)
            if pid is not None and has_socket(pid, inode):
                return node
        return None


def reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the other side sees a reset, and not an end."""
    own: socket.socket = writer.get_extra_info("socket")
    try:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    writer.transport.abort()
