"""A process that has the broker's modules loaded and forks a broker whenever it is asked.

Starting Python and importing a broker takes longer than a broker takes to start; done once, in a
process without threads, it need not be done again. Runs as `python -m penstock.testing.zygote FD`,
with one end of a socket pair as FD, and ends when the other end closes. Its brokers end with it.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

_REQUEST_BYTES_MAX = 1 << 20
_PR_SET_PDEATHSIG = 1
_WATCH_S = 0.25


def serve(conversation: socket.socket) -> None:
    _rehearse()
    # Broker and zygote share their pages until someone writes to them: the collector would.
    gc.collect()
    gc.freeze()
    while (received := _receive(conversation)) is not None:
        request, descriptors = received
        if "reap" in request:
            answer = {"code": _reap(request["reap"])}
        else:
            answer = {"pid": _fork(request, descriptors, conversation)}
        conversation.sendall(json.dumps(answer).encode() + b"\n")


def _rehearse() -> None:
    """Run a broker here from start to stop: what it imports and compiles is there for all others.

    Its threads have ended with it, so that a fork is safe again.
    """
    ready_read, ready_write = os.pipe()
    stopper = os.fork()
    if stopper == 0:
        os.close(ready_write)
        if os.read(ready_read, 1):
            os.kill(os.getppid(), signal.SIGTERM)
        os._exit(0)
    os.close(ready_read)
    with TemporaryDirectory(prefix="penstock-rehearsal-") as home, _silent_stdout():
        request = {"settings": {}, "listen": "127.0.0.1:0", "data_dir": f"{home}/data"}
        _run(request | {"log_level": "error"}, ready_write)
    os.waitpid(stopper, 0)


@contextmanager
def _silent_stdout() -> Iterator[None]:
    kept, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(null)


def _receive(conversation: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    text, descriptors, _, _ = socket.recv_fds(conversation, _REQUEST_BYTES_MAX, 2)
    while text and not text.endswith(b"\n"):
        more = conversation.recv(_REQUEST_BYTES_MAX)
        text = text + more if more else b""
    return (json.loads(text), descriptors) if text else None


def _reap(pid: int) -> int:
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _fork(request: dict[str, Any], descriptors: list[int], conversation: socket.socket) -> int:
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        conversation.close()
        _become_broker(request, descriptors[0], zygote)
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


def _become_broker(request: dict[str, Any], ready_fd: int, zygote: int) -> NoReturn:
    code = 70
    try:
        _die_with(zygote)
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        _prepare(request["prepare"])
        code = _run(request, ready_fd)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _die_with(zygote: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(zygote,), daemon=True).start()
    if os.getppid() != zygote:
        os._exit(70)


def _watch(zygote: int) -> None:
    """Where the system does not tell a child that its parent died, look now and then."""
    while os.getppid() == zygote:
        time.sleep(_WATCH_S)
    os.kill(os.getpid(), signal.SIGKILL)


def _prepare(named: str | None) -> None:
    if named is not None:
        from importlib import import_module

        module, _, function = named.partition(":")
        getattr(import_module(module), function)()


def _run(request: dict[str, Any], ready_fd: int) -> int:
    from penstock.node.main import run
    from penstock.settings.config import BrokerConfig

    return run(
        BrokerConfig.load(None, [f"{key}={value}" for key, value in request["settings"].items()]),
        listen=request["listen"],
        advertise=None,
        data_dir=request["data_dir"],
        metrics=request.get("metrics"),
        ready_fd=ready_fd,
        ready_file=None,
        pid_file=None,
        log_format="text",
        log_level=request["log_level"],
    )


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as own_end:
        serve(own_end)
