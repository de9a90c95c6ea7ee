"""Simulated time."""

from __future__ import annotations

import pytest

from penstock.model.clock import Clock
from penstock.testing import SimulatedClock


def test_time_moves_only_when_told() -> None:
    clock: Clock = SimulatedClock(now_ms=1000)
    assert (clock.now_ms(), clock.now_ms(), clock.monotonic()) == (1000, 1000, 0.0)


def test_both_clocks_move_together() -> None:
    clock = SimulatedClock(now_ms=1000, monotonic=5.0)
    clock.advance(1.5)
    assert (clock.now_ms(), clock.monotonic()) == (2500, 6.5)


def test_small_steps_add_up() -> None:
    clock = SimulatedClock(now_ms=0)
    for _ in range(10_000):
        clock.advance(0.0001)
    assert (clock.now_ms(), clock.monotonic()) == (1000, 1.0)


def test_the_wall_clock_may_go_back_alone() -> None:
    clock = SimulatedClock(now_ms=1000)
    clock.advance(1)
    clock.set_now_ms(500)
    assert (clock.now_ms(), clock.monotonic()) == (500, 1.0)
    clock.advance(1)
    assert (clock.now_ms(), clock.monotonic()) == (1500, 2.0)
    with pytest.raises(ValueError, match="time only moves on"):
        clock.advance(-1)
