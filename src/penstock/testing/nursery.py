"""This process's side of the zygote: starts it when first needed, asks it for brokers."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_STOP_S = 10.0


class NurseryError(RuntimeError):
    pass


@dataclass(frozen=True, slots=True)
class Order:
    """What a broker is started with."""

    log: str
    settings: Mapping[str, str]
    data_dir: str | None = None
    listen: str | None = None
    """Neither is said where the settings say it."""
    log_level: str = "info"
    metrics: str | None = None
    """Where they are served, if they are."""
    prepare: str | None = None
    """`module:function`, called in the new process before the broker starts: to plant a fault."""


@dataclass(slots=True)
class Child:
    """A broker process: its id, and a pipe that ends when it does."""

    pid: int
    ready_fd: int
    exit_fd: int

    def wait_ready(self, timeout_s: float) -> dict[str, Any] | None:
        """The line it writes when ready; None if it ended, or took too long."""
        deadline, line = time.monotonic() + timeout_s, b""
        while not line.endswith(b"\n"):
            if not _readable(self.ready_fd, deadline - time.monotonic()):
                return None
            chunk = os.read(self.ready_fd, 4096)
            if not chunk:
                return None
            line += chunk
        ready: dict[str, Any] = json.loads(line)
        return ready

    def wait_exit(self, timeout_s: float) -> bool:
        return _readable(self.exit_fd, timeout_s)

    def close(self) -> None:
        os.close(self.ready_fd)
        os.close(self.exit_fd)


def _readable(descriptor: int, timeout_s: float) -> bool:
    return bool(select.select([descriptor], [], [], max(0.0, timeout_s))[0])


class Nursery:
    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "penstock.testing.zygote", str(theirs.fileno())]
        with theirs:
            # Its own session: Ctrl-C is for pytest alone, which then stops what it started.
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._conversation = ours

    def spawn(self, order: Order) -> Child:
        ready_read, ready_write = os.pipe()
        exit_read, exit_write = os.pipe()
        try:
            answer = self._ask(asdict(order), [ready_write, exit_write])
        except NurseryError:
            os.close(ready_read)
            os.close(exit_read)
            raise
        finally:
            os.close(ready_write)
            os.close(exit_write)
        return Child(int(answer["pid"]), ready_read, exit_read)

    def reap(self, child: Child) -> int:
        """The exit code of a child that has ended; negative for a signal."""
        child.close()
        return int(self._ask({"reap": child.pid})["code"])

    def _ask(self, request: dict[str, Any], descriptors: list[int] | None = None) -> Any:
        message = json.dumps(request).encode() + b"\n"
        try:
            socket.send_fds(self._conversation, [message], descriptors or [])
            answer = b""
            while not answer.endswith(b"\n"):
                chunk = self._conversation.recv(65536)
                if not chunk:
                    raise NurseryError("the process that starts brokers has ended")
                answer += chunk
        except OSError as error:
            raise NurseryError(f"the process that starts brokers has ended: {error}") from error
        return json.loads(answer)

    def close(self) -> None:
        self._conversation.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_shared: Nursery | None = None


def shared_nursery() -> Nursery:
    """The nursery of this process, started now if there is none."""
    global _shared
    if _shared is None:
        _shared = Nursery()
    return _shared


def close_shared_nursery() -> None:
    global _shared
    nursery, _shared = _shared, None
    if nursery is not None:
        nursery.close()
