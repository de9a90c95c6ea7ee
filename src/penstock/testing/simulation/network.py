"""The network between named hosts: what is sent arrives later and in order, unless it is cut off.

Owns who may reach whom and which machines are on. Behaves as TCP does: a cut is silence, and what
was sent arrives once it is healed; a process that ends closes its connections, a machine without
power says nothing, and answers with a reset when it is back and is sent what it knows nothing of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextvars import Context
from enum import Enum
from random import Random
from typing import TYPE_CHECKING
from zlib import crc32

from penstock.testing.simulation.loop import VirtualLoop
from penstock.testing.simulation.trace import Trace

if TYPE_CHECKING:
    from penstock.testing.simulation.socket import SimulatedListener, SimulatedSocket

LATENCY_S = (30e-6, 1.5e-3)
SPLIT_CHANCE = 0.1
"""How often what is sent at once arrives in two pieces."""
FIRST_CLIENT_PORT = 40_000
POST_TRIES_MAX = 6

_NOBODY = Context()
"""What is on the wire belongs to no process: it arrives, whatever became of its sender."""


class Kind(Enum):
    DATA = "data"
    END = "end"
    RESET = "reset"


class Network:
    def __init__(self, loop: VirtualLoop, random: Random, trace: Trace) -> None:
        self.loop = loop
        self.random = random
        self.trace = trace
        self.latency_s = LATENCY_S
        self.delay_s: dict[tuple[str, str], float] = {}
        """What is added to that from one host to another."""
        self.listeners: dict[tuple[str, int], SimulatedListener] = {}
        self.refusing: set[str] = set()
        """Hosts that turn new connections away, whoever listens there."""
        self._cuts: set[tuple[str, str]] = set()
        self._off: set[str] = set()
        self._waiting: dict[Pipe | _Post, None] = {}
        self._sockets: dict[SimulatedSocket, None] = {}
        self._next_port: dict[str, int] = {}

    # Cuts

    def cut(self, sender: str, receiver: str) -> None:
        """In this direction."""
        self._cuts.add((sender, receiver))

    def heal(self, sender: str, receiver: str) -> None:
        self._cuts.discard((sender, receiver))
        self._resume()

    def heal_all(self) -> None:
        self._cuts.clear()
        self._resume()

    def is_cut(self, sender: str, receiver: str) -> bool:
        return (sender, receiver) in self._cuts

    def _resume(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for one in waiting:
            one.resume()

    # Machines

    def power_off(self, host: str) -> None:
        """Its sockets are gone without a word to anybody."""
        self._off.add(host)
        for sock in self.sockets_of(host):
            sock.vanish()

    def power_on(self, host: str) -> None:
        self._off.discard(host)
        for sock in list(self._sockets):
            if sock.peer.is_gone and sock.peer.host == host and sock.outgoing.was_lost:
                sock.peer.outgoing.send(Kind.RESET)

    def is_off(self, host: str) -> bool:
        return host in self._off

    def sockets_of(self, host: str) -> list[SimulatedSocket]:
        return [sock for sock in self._sockets if sock.host == host]

    def add(self, sock: SimulatedSocket) -> None:
        self._sockets[sock] = None

    def forget(self, sock: SimulatedSocket) -> None:
        self._sockets.pop(sock, None)

    def client_port(self, host: str) -> int:
        port = self._next_port.get(host, FIRST_CLIENT_PORT)
        self._next_port[host] = port + 1
        return port

    # On the wire

    def arrival_ns(self, sender: str, receiver: str) -> int:
        latency_s = self.random.uniform(*self.latency_s)
        latency_s += self.delay_s.get((sender, receiver), 0.0)
        return self.loop.now_ns() + round(latency_s * 1e9)

    def at_ns(self, when_ns: int, callback: Callable[[], None]) -> None:
        self.loop.call_at(when_ns / 1e9, callback, context=_NOBODY)

    def post(self, sender: str, receiver: str, action: Callable[[], None]) -> None:
        """Something small, such as the wish to connect."""
        _Post(self, sender, receiver, action).resume()

    def wait(self, who: Pipe | _Post) -> None:
        """Until it is worth trying again."""
        self._waiting[who] = None


class _Post:
    def __init__(
        self, network: Network, sender: str, receiver: str, action: Callable[[], None]
    ) -> None:
        self._network = network
        self._path = sender, receiver
        self._action = action
        self._tries = 0

    def resume(self) -> None:
        self._network.at_ns(self._network.arrival_ns(*self._path), self._arrive)

    def _arrive(self) -> None:
        if self._network.is_cut(*self._path):
            self._network.wait(self)
        elif not self._network.is_off(self._path[1]):
            self._action()
        elif self._tries < POST_TRIES_MAX:
            # After one second, two more, four more.
            again_ns = self._network.loop.now_ns() + (1_000_000_000 << self._tries)
            self._tries += 1
            self._network.at_ns(again_ns, self._arrive)


class Pipe:
    """One direction of a connection."""

    def __init__(self, network: Network, sender: SimulatedSocket) -> None:
        self._network = network
        self._sender = sender
        self._queue: deque[tuple[int, Kind, bytes]] = deque()
        self._last_ns = 0
        self._is_scheduled = False
        self.queued_bytes = 0
        self.was_lost = False
        """Something came to a machine that was off."""

    def send(self, kind: Kind, data: bytes = b"") -> None:
        for piece in self._split(data):
            self._last_ns = max(self._last_ns, self._arrival_ns())
            self._queue.append((self._last_ns, kind, piece))
        self.queued_bytes += len(data)
        self._schedule()

    def resume(self) -> None:
        if self._queue:
            arrival_ns = self._arrival_ns()
            self._last_ns = max(self._last_ns, arrival_ns)
            self._is_scheduled = True
            self._network.at_ns(arrival_ns, self._arrive)

    def _arrival_ns(self) -> int:
        return self._network.arrival_ns(self._sender.host, self._sender.peer.host)

    def _split(self, data: bytes) -> Iterable[bytes]:
        random = self._network.random
        if len(data) > 1 and random.random() < SPLIT_CHANCE:
            middle = random.randrange(1, len(data))
            return data[:middle], data[middle:]
        return (data,)

    def _schedule(self) -> None:
        if self._queue and not self._is_scheduled:
            self._is_scheduled = True
            self._network.at_ns(self._queue[0][0], self._arrive)

    def _arrive(self) -> None:
        self._is_scheduled = False
        receiver = self._sender.peer
        if self._network.is_cut(self._sender.host, receiver.host):
            self._is_scheduled = True
            self._network.wait(self)
            return
        now_ns = self._network.loop.now_ns()
        while self._queue and self._queue[0][0] <= now_ns:
            _, kind, data = self._queue.popleft()
            self.queued_bytes -= len(data)
            self._deliver(receiver, kind, data)
        self._schedule()

    def _deliver(self, receiver: SimulatedSocket, kind: Kind, data: bytes) -> None:
        if self._network.is_off(receiver.host):
            self.was_lost = True
            return
        size = f" {len(data)} {crc32(data):08x}" if data else ""
        self._network.trace.note(f"{self._sender} > {receiver} {kind.value}{size}")
        receiver.receive(kind, data)
