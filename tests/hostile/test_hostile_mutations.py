"""Requests of every API with values and bytes that no client would send."""

from __future__ import annotations

import select
from contextlib import suppress

import pytest

from penstock.handlers.table import BROKER_MODULES
from tests.hostile.request_maker import RequestMaker
from tests.hostile.target import Target

AHEAD = 4
"""Requests sent on one connection before its answers are looked at."""
UNWELCOME = ("Traceback", "request failed", "background work failed", "internal error")


@pytest.fixture
def request_count(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("hostile_requests", 2000))


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_is_sent(target: Target, request_count: int, seed: int) -> None:
    target.create_topic("t", 2)
    maker = RequestMaker(seed, sorted(BROKER_MODULES))
    with target.watched(f"{request_count:,} requests of every kind, seed {seed}"):
        for _ in range(0, request_count, AHEAD):
            send(target, b"".join(maker.frame() for _ in range(AHEAD)))
    if target.is_penstock:
        assert [line for line in target.log.splitlines() if is_unwelcome(line)] == []


def send(target: Target, frames: bytes) -> None:
    """One connection, used until it is closed or has no more to say."""
    with target.wire() as wire, suppress(ConnectionError):
        wire.sock.sendall(frames)
        while select.select([wire.sock], [], [], 0.005)[0] and wire.sock.recv(1 << 20):
            pass


def is_unwelcome(line: str) -> bool:
    return any(word in line for word in UNWELCOME)


def test_the_same_seed_makes_the_same_requests() -> None:
    first, second = (RequestMaker(7, sorted(BROKER_MODULES)) for _ in range(2))
    assert [first.frame() for _ in range(50)] == [second.frame() for _ in range(50)]
