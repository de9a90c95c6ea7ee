"""Ports for the brokers of tests: none is given twice in a run."""

from __future__ import annotations

import os
import random
import socket

HOST = "127.0.0.1"
# Below the ports that systems give to outgoing connections: one of those could otherwise sit on a
# port whose node is down for a moment.
_PORTS = range(15_000, 32_000)
_given: set[int] = set()


def free_port() -> int:
    """A loopback port that was free a moment ago, and was not given before.

    A client that outlives its test goes on calling where its broker was. With a port of its own,
    the next test's broker does not hear of it.
    """
    ports = _own_ports()
    while True:
        port = random.choice(ports)
        if port not in _given and _is_free(port):
            _given.add(port)
            return port


def _own_ports() -> range:
    """Those of this process where pytest-xdist runs several."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    count = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "")
    return _PORTS[int(worker) :: int(count)] if worker.isdigit() and count.isdigit() else _PORTS


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
