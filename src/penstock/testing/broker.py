"""A real broker for one test: started, stopped, killed and talked to."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

from penstock.testing.client_calls import ClientCalls, setting_text
from penstock.testing.nursery import Child, Nursery, Order, shared_nursery
from penstock.testing.port import HOST, free_port

_LOG_SHOWN_CHARACTERS = 4000


class BrokerError(RuntimeError):
    pass


class Broker(ClientCalls):
    """`bootstrap_servers` stays the same from the first start on, whatever happens between."""

    ready_s = 20.0
    stop_s = 20.0

    def __init__(
        self,
        data_dir: Path,
        settings: Mapping[str, object] | None = None,
        *,
        log_level: str = "info",
        nursery: Nursery | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.log_file = data_dir.with_name(data_dir.name + ".log")
        self.settings = {key: setting_text(value) for key, value in (settings or {}).items()}
        self.metrics: str | None = None
        self._log_level = log_level
        self._nursery = nursery
        self._child: Child | None = None
        self._listen: str | None = None
        self._is_ready = False

    @property
    def bootstrap_servers(self) -> str:
        if self._listen is None:
            raise BrokerError("the broker was never started")
        return self._listen

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def running(self) -> bool:
        return self._child is not None and not self._child.wait_exit(0)

    @property
    def log(self) -> str:
        """What the broker has logged, from its first start on."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        """As `start`, without the wait."""
        if self.running:
            raise BrokerError("the broker is running already")
        self._forget()
        self._nursery = self._nursery or shared_nursery()
        self._is_ready = False
        self._child = self._nursery.spawn(self._order())

    def _order(self) -> Order:
        return Order(
            data_dir=str(self.data_dir),
            log=str(self.log_file),
            listen=None if "listeners" in self.settings else self._own_address(),
            settings=self.settings,
            log_level=self._log_level,
        )

    def _own_address(self) -> str:
        return self._listen or f"{HOST}:{free_port()}"

    def wait_ready(self) -> None:
        if self._is_ready:
            return
        child = self._running()
        ready = child.wait_ready(self.ready_s)
        if ready is None:
            self._end(signal.SIGKILL)
            raise BrokerError(f"the broker did not start\n{self.log[-_LOG_SHOWN_CHARACTERS:]}")
        self._is_ready = True
        self._listen, self.metrics = ready["listen"], ready.get("metrics")

    def stop(self) -> int:
        """Shut down cleanly, as SIGTERM does; the exit code."""
        return 0 if self._child is None else self._end(signal.SIGTERM)

    def kill(self) -> None:
        """A real SIGKILL: nothing is flushed, closed or said."""
        if self._child is not None:
            self._end(signal.SIGKILL)

    def pause(self) -> None:
        """SIGSTOP: it stays where it is, with all its connections, and says nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def restart(self) -> None:
        self.stop()
        self.start()

    def _end(self, number: signal.Signals) -> int:
        child = self._running()
        if not child.wait_exit(0):
            os.kill(child.pid, number)
            # One that is paused would hear of it when it is resumed.
            os.kill(child.pid, signal.SIGCONT)
        if not child.wait_exit(self.stop_s):
            os.kill(child.pid, signal.SIGKILL)
            child.wait_exit(self.stop_s)
            self._forget()
            raise BrokerError(f"the broker did not stop\n{self.log[-_LOG_SHOWN_CHARACTERS:]}")
        return self._forget()

    def _running(self) -> Child:
        if self._child is None:
            raise BrokerError("the broker is not running")
        return self._child

    def _forget(self) -> int:
        """Take leave of a process that has ended; it keeps its number until then."""
        child, self._child = self._child, None
        if child is None or self._nursery is None:
            return 0
        return self._nursery.reap(child)
