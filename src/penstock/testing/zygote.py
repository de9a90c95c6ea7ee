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
import traceback
from typing import Any, NoReturn

_REQUEST_BYTES_MAX = 1 << 20
_PR_SET_PDEATHSIG = 1


def serve(conversation: socket.socket) -> None:
    from penstock.node.main import run

    del run
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
    lifeline_read, lifeline_write = os.pipe()
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(lifeline_write)
        conversation.close()
        _become_broker(request, descriptors[0], lifeline_read, zygote)
    os.close(lifeline_read)
    # The write end stays open for as long as the zygote lives, and in no other process.
    _lifelines.append(lifeline_write)
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


_lifelines: list[int] = []


def _become_broker(request: dict[str, Any], ready_fd: int, lifeline: int, zygote: int) -> NoReturn:
    code = 70
    try:
        for inherited in _lifelines:
            os.close(inherited)
        _die_with(zygote, lifeline)
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        code = _run(request, ready_fd)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _die_with(zygote: int, lifeline: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != zygote:
            os._exit(70)
    else:
        threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _watch(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGKILL)


def _run(request: dict[str, Any], ready_fd: int) -> int:
    from penstock.node.main import run
    from penstock.settings.config import BrokerConfig

    return run(
        BrokerConfig.load(None, [f"{key}={value}" for key, value in request["settings"].items()]),
        listen=request["listen"],
        advertise=None,
        data_dir=request["data_dir"],
        metrics=None,
        ready_fd=ready_fd,
        ready_file=None,
        pid_file=None,
        log_format="text",
        log_level=request["log_level"],
    )


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as own_end:
        serve(own_end)
