"""Hosts by name on one loop and one network, from one seed: started, killed, cut off, asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextvars import Context
from random import Random
from typing import Any, TypeVar

from penstock.node.node import Node
from penstock.peer.peer import Peer
from penstock.testing.simulation.host import SimulatedHost
from penstock.testing.simulation.loop import SimulationError, VirtualLoop
from penstock.testing.simulation.network import Kind, Network
from penstock.testing.simulation.process import Process
from penstock.testing.simulation.socket import HostSockets
from penstock.testing.simulation.trace import Trace

T = TypeVar("T")

PORT = 9092
START_S_MAX = 120.0
CLIENT = "client"


class SimulatedCluster:
    """A context manager: nothing is left running behind it. Errors that nobody was told of fail
    the run that they happen in."""

    def __init__(
        self,
        seed: int,
        *,
        build: Callable[[SimulatedHost], Node] | None = None,
        whole_trace: bool = False,
    ) -> None:
        self.seed = seed
        self.random = Random(f"{seed} cluster")
        """For whoever decides what is to happen in this run."""
        self.loop = VirtualLoop(Random(f"{seed} loop"))  # type: ignore[abstract]
        self.trace = Trace(self.loop.now_ns, whole=whole_trace)
        self.network = Network(self.loop, Random(f"{seed} network"), self.trace)
        self.hosts: dict[str, SimulatedHost] = {}
        self.invariants: list[Callable[[], None]] = []
        """Each is called behind every step, and raises where something is wrong."""
        self._build = build
        self._client = Process(CLIENT)
        self._peers: list[Peer] = []

    def __enter__(self) -> SimulatedCluster:
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if error is not None:
            error.add_note(f"seed {self.seed}, {self.now_s:.6f} s after the beginning")
        for host in self.hosts.values():
            if host.process.alive:
                self._drop(host)
        self._client.kill()
        self._client.bury()
        self.loop.close()

    @property
    def now_s(self) -> float:
        return self.loop.time()

    # Hosts

    def add(
        self, name: str, settings: Mapping[str, object] | None = None, *, port: int = PORT
    ) -> SimulatedHost:
        host = SimulatedHost(
            name, port, settings or {}, self.loop, self.network, str(self.seed), self._build
        )
        host.on_killed = lambda killed: self.crash(killed.name)
        self.hosts[name] = host
        return host

    def start(self, *names: str) -> None:
        """Returns when all of them are up."""
        for name in names:
            self.begin(name)
        self.run_until(lambda: all(self.hosts[name].is_up for name in names), START_S_MAX)

    def begin(self, name: str) -> None:
        """Starts it and does not wait. It may be killed before it is up."""
        host = self.hosts[name]
        self.network.power_on(name)
        node = host.begin()
        self.trace.note(f"{host.process} starts")

        async def start() -> None:
            try:
                await node.start()
            except Exception as error:
                self.loop.unexpected.append(f"{host.process} did not start: {error!r}")
                raise
            host.is_up = True
            self.trace.note(f"{host.process} is up")

        host.process.run(self._spawn, start())

    def stop(self, name: str) -> None:
        """As a signal to end does."""
        host = self.hosts[name]
        node = host.node
        assert node is not None
        task: asyncio.Task[bool] = host.process.run(self._spawn, node.stop())
        self.run_until(task.done, START_S_MAX)
        if not task.result():
            raise SimulationError(f"{name} did not stop cleanly")
        self.kill(name)

    def begin_stop(self, name: str) -> None:
        """The same without waiting, and whatever comes of it: the process ends when it is done."""
        host = self.hosts[name]
        node, process = host.node, host.process
        assert node is not None
        self.trace.note(f"{process} is stopping")

        def end(_: asyncio.Task[bool]) -> None:
            if process.alive:
                self.kill(name)

        task: asyncio.Task[bool] = process.run(self._spawn, node.stop())
        task.add_done_callback(end, context=Context())

    def kill(self, name: str) -> None:
        """The process dies. The machine closes its connections and keeps all that it wrote."""
        host = self.hosts[name]
        self.trace.note(f"{host.process} is killed")
        for sock in self.network.sockets_of(name):
            sock.close()
        self._close_listeners(name)
        host.end()
        host.faulty_disk.kill()

    def crash(self, name: str, *, silent: bool = True) -> None:
        """The machine loses its power, and what was not synced. Nobody is told, unless it is not
        `silent`: then connections break at once, as if something on the way had seen it."""
        host = self.hosts[name]
        self.trace.note(f"{host.process} crashes")
        if silent:
            self.network.power_off(name)
        else:
            for sock in self.network.sockets_of(name):
                sock.close()
        self._drop(host)
        host.faulty_disk.crash()

    def pause(self, name: str) -> None:
        """Stops the process as a signal does: its machine still takes connections and bytes."""
        host = self.hosts[name]
        self.trace.note(f"{host.process} is paused")
        if host.process.held is None:
            host.process.held = []

    def resume(self, name: str) -> None:
        host = self.hosts[name]
        self.trace.note(f"{host.process} goes on")
        self.loop.resume(host.process)

    def restart(self, name: str) -> None:
        if self.hosts[name].process.alive:
            self.stop(name)
        self.start(name)

    def _drop(self, host: SimulatedHost) -> None:
        self._close_listeners(host.name)
        host.end()

    def _close_listeners(self, name: str) -> None:
        for listener in list(self.network.listeners.values()):
            if listener.host == name:
                listener.close()

    # The network

    def cut(self, one: str, other: str) -> None:
        """Neither hears the other; connections stay, and are silent."""
        self.trace.note(f"{one} | {other} cut")
        self.network.cut(one, other)
        self.network.cut(other, one)

    def cut_off(self, name: str) -> None:
        """From all other hosts. Clients still reach it."""
        for other in self.hosts:
            if other != name:
                self.cut(name, other)

    def cut_one_way(self, sender: str, receiver: str) -> None:
        self.trace.note(f"{sender} > {receiver} cut")
        self.network.cut(sender, receiver)

    def slow(self, one: str, other: str, delay_s: float) -> None:
        """What one sends the other takes that much longer, both ways."""
        self.trace.note(f"{one} | {other} slow")
        self.network.delay_s[one, other] = self.network.delay_s[other, one] = delay_s

    def refuse(self, name: str) -> None:
        """Its ports turn everybody away, and connections break, though the process is well."""
        self.trace.note(f"{name} refuses")
        self.network.refusing.add(name)
        for sock in self.network.sockets_of(name):
            sock.outgoing.send(Kind.RESET)
            sock.peer.outgoing.send(Kind.RESET)

    def heal(self, one: str | None = None, other: str | None = None) -> None:
        """Between these two, or everything: also what is slow, and who refuses."""
        self.trace.note(f"{one} | {other} healed")
        if one is None or other is None:
            self.network.delay_s.clear()
            self.network.refusing.clear()
            self.network.heal_all()
        else:
            self.network.heal(one, other)
            self.network.heal(other, one)

    # Running

    def run_for(self, seconds: float) -> None:
        self.loop.run_until(self._is_broken, self.now_s + seconds)
        self._check()

    def run_until(self, condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
        """Looks behind every step; SimulationError if it does not hold within that time."""
        holds = self.loop.run_until(
            lambda: self._is_broken() or condition(), self.now_s + timeout_s
        )
        self._check()
        if not holds:
            raise SimulationError(f"not within {timeout_s:g} s")

    def run(self, work: Coroutine[Any, Any, T], timeout_s: float = 600.0) -> T:
        """As a client of the cluster: what it calls, it calls from a host of its own."""
        task: asyncio.Task[T] = self._client.run(self._spawn, work)
        self.run_until(task.done, timeout_s)
        return task.result()

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """The same in the background, for as long as something is run."""
        task: asyncio.Task[T] = self._client.run(self._spawn, work)
        return task

    def peer(self, name: str, client_id: str = CLIENT) -> Peer:
        """A client's connection to a host."""
        host = self.hosts[name]
        # A client has no files to send.
        dialer = HostSockets(self.network, CLIENT, host.disk)
        return Peer(dialer, name, host.port, client_id=client_id, random=self.random.random)

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        return self.loop.create_task(work)

    def _is_broken(self) -> bool:
        for invariant in self.invariants:
            invariant()
        return bool(self.loop.unexpected)

    def _check(self) -> None:
        if self.loop.unexpected:
            raise SimulationError("; ".join(self.loop.unexpected))
