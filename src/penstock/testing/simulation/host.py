"""A machine of the simulation: its disk stays, the process on it comes and goes.

Owns what a node is given there: clock, disk, sockets, ids, threads that are none. Which node runs
on it is decided by whoever starts it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import Executor, Future
from contextvars import Context
from random import Random
from typing import Any, TypeVar

from penstock.node.address import Address
from penstock.node.node import Node
from penstock.node.options import NodeOptions
from penstock.node.system import System
from penstock.settings.config import BrokerConfig
from penstock.storage.compaction.job import CompactionJob, Progress
from penstock.testing.disk import FaultyDisk
from penstock.testing.simulation.clock import HostClock
from penstock.testing.simulation.disk import ProcessDisk
from penstock.testing.simulation.loop import THREAD_S, VirtualLoop
from penstock.testing.simulation.network import Network
from penstock.testing.simulation.process import Process, ProcessKilled
from penstock.testing.simulation.socket import HostSockets

T = TypeVar("T")

DATA_DIR = "/data"
DESCRIPTORS = 1 << 20


class InlineExecutor(Executor):
    """Done by the time it is asked for: a pool of threads without any."""

    def __init__(self, threads: int, name: str) -> None: ...

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class SimulatedHost:
    """`build` makes the node, with all that the host offers it."""

    def __init__(
        self,
        name: str,
        port: int,
        settings: Mapping[str, object],
        loop: VirtualLoop,
        network: Network,
        seed: str,
        build: Callable[[SimulatedHost], Node] | None = None,
    ) -> None:
        self.name = name
        self.port = port
        self.settings = dict(settings)
        self.clock = HostClock(loop)
        self.faulty_disk = FaultyDisk(seed=Random(f"{seed} disk {name}").getrandbits(64))
        self.random = Random(f"{seed} host {name}")
        self.process = Process(name)
        self.process.alive = False
        self.node: Node | None = None
        self.is_up = False
        """Whether the node has started and not ended since."""
        self.changes_left: int | None = None
        """So many changes of the disk from now the machine loses its power; None: never."""
        self.flush_s = THREAD_S
        """How long it takes until a flush begins: a slow disk takes longer."""
        self.on_killed: Callable[[SimulatedHost], None] = lambda _: None
        self._loop = loop
        self._network = network
        self._build = build or build_node

    @property
    def disk(self) -> ProcessDisk:
        return ProcessDisk(self.faulty_disk, self.process, self.clock, self._on_change)

    @property
    def system(self) -> System:
        """What the node of the present process is given."""
        disk = self.disk
        sockets = HostSockets(self._network, self.name, disk)

        async def compact(job: CompactionJob) -> AsyncGenerator[Progress, None]:
            from penstock.storage.compaction.run import Compaction

            for progress in Compaction(job, disk).run():
                yield progress

        return System(
            sockets=sockets,
            dialer=sockets,
            random=self.random.random,
            descriptors=DESCRIPTORS,
            new_pool=InlineExecutor,
            flush_later=self._flush_later,
            run_compaction=compact,
            tunes_memory=False,
        )

    def _flush_later(self, flush: Callable[[], None]) -> None:
        self._loop.call_later(self.random.uniform(*self.flush_s), flush)

    def new_id(self) -> bytes:
        return self.random.randbytes(16)

    def begin(self) -> Node:
        """Another process, with a node that is yet to be started."""
        assert not self.process.alive, f"{self.name} is running"
        self.process = Process(self.name, self.process.number + 1)
        self.node = self.process.run(self._build, self)
        return self.node

    def end(self) -> None:
        """The process is gone; what becomes of its connections and of the disk is not said here."""
        self.is_up = False
        self.changes_left = None
        self.node = None
        self.process.kill()
        if self._loop.is_running():
            self._loop.call_soon(self.process.bury, context=Context())
        else:
            self.process.bury()

    def _on_change(self, what: str) -> None:
        self._network.trace.note(f"{self.name} disk {what}")
        if self.changes_left is not None:
            self.changes_left -= 1
            if self.changes_left < 0:
                self.on_killed(self)
                raise ProcessKilled


def build_node(host: SimulatedHost) -> Node:
    """A cluster of one."""
    settings = [f"{key}={value}" for key, value in host.settings.items()]
    return Node(
        BrokerConfig.load(None, settings),
        NodeOptions(Address(host.name, host.port), None, (DATA_DIR,)),
        host.clock,
        new_id=host.new_id,
        disk=host.disk,
        system=host.system,
    )
