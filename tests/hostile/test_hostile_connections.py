"""Connections that hold what others need."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from struct import pack

import pytest

from penstock.node import descriptor
from tests.hostile.target import MB, Target

CROWD = 4200


def push(sock: socket.socket, data: bytes, seconds: float) -> None:
    """As much as the other side takes in that time."""
    sock.setblocking(False)
    view, until = memoryview(data), time.monotonic() + seconds
    while view and time.monotonic() < until:
        try:
            view = view[sock.send(view) :]
        except BlockingIOError:
            time.sleep(0.005)
        except ConnectionError:
            return


def test_a_large_frame_that_stops(target: Target) -> None:
    with (
        target.watched("90 MB of a 100 MB frame, then silence", memory_mb_max=250),
        target.wire() as wire,
    ):
        push(wire.sock, pack(">i", 100 * MB - 100) + bytes(90 * MB), 3.0)
        time.sleep(3.0)


def test_a_large_frame_by_the_byte(target: Target) -> None:
    """As good as silence."""
    with (
        target.watched("90 MB of a 100 MB frame, then ten bytes a second", memory_mb_max=250),
        target.wire() as wire,
    ):
        push(wire.sock, pack(">i", 100 * MB - 100) + bytes(90 * MB), 3.0)
        for _ in range(30):
            push(wire.sock, b"x", 0.01)
            time.sleep(0.1)


def test_fifty_large_frames_that_stop(target: Target) -> None:
    with (
        target.watched("50 frames of 100 MB, 2 MB of each, then silence", memory_mb_max=250),
        ExitStack() as stack,
    ):
        for _ in range(50):
            wire = stack.enter_context(target.wire())
            push(wire.sock, pack(">i", 100 * MB - 100) + bytes(2 * MB), 0.1)
        time.sleep(3.0)


def test_a_crowd_of_beginnings(target: Target) -> None:
    """A few bytes each, and then all of them go at once."""
    come_and_go(target, f"{CROWD} connections of 8 bytes, closed at once")


@pytest.mark.penstock(settings={"penstock.memory.request.bytes": 16 * MB})
def test_a_crowd_that_takes_all_of_a_small_memory(target: Target) -> None:
    """A large request waits until the slow ones are given up."""
    come_and_go(target, f"the same with {CROWD} connections on 16 MB for requests")


def come_and_go(target: Target, case: str) -> None:
    descriptor.raise_limit()
    if descriptor.limit() < CROWD + 200:
        pytest.skip(f"needs {CROWD} file descriptors")
    with target.watched(case, memory_mb_max=150):
        crowd = []
        host, port = target.address.rsplit(":", 1)
        for _ in range(CROWD):
            crowd.append(socket.create_connection((host, int(port)), timeout=30))
            crowd[-1].sendall(pack(">i", 100 * MB - 100) + b"abcd")
        time.sleep(1.0)
        for sock in crowd:
            sock.close()
        time.sleep(0.5)
