"""The share of time in which a loop has nothing to do."""

from __future__ import annotations

from penstock.telemetry.loop import LoopIdle


class Times:
    def __init__(self) -> None:
        self.wall_s = 100.0
        self.busy_s = 7.0

    def idle(self) -> LoopIdle:
        return LoopIdle(lambda: self.wall_s, lambda: self.busy_s)

    def pass_by(self, wall_s: float, busy_s: float) -> None:
        self.wall_s += wall_s
        self.busy_s += busy_s


def test_it_is_about_the_last_seconds_only() -> None:
    times = Times()
    idle = times.idle()
    times.pass_by(10, 10)
    assert idle.ratio() == 0
    times.pass_by(10, 2.5)
    assert idle.ratio() == 0.75
    times.pass_by(10, 0)
    assert idle.ratio() == 1


def test_who_asks_often_does_not_make_it_jump() -> None:
    times = Times()
    idle = times.idle()
    times.pass_by(10, 5)
    assert idle.ratio() == 0.5
    times.pass_by(0.01, 0.01)
    assert abs(idle.ratio() - 0.5) < 0.01


def test_it_stays_between_0_and_1() -> None:
    times = Times()
    idle = times.idle()
    assert idle.ratio() == 1
    times.pass_by(2, 2.1)
    assert idle.ratio() == 0
