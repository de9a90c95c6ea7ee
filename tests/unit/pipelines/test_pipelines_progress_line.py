"""What a long wait says, on a terminal and in a pipe."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from penstock.pipelines import progress_line
from penstock.pipelines.progress_line import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    now = [0.0]
    with monkeypatch.context() as patch:
        patch.setattr(progress_line.time, "monotonic", lambda: now[0])
        yield now


def test_a_pipe_gets_a_line_now_and_then(clock: list[float]) -> None:
    out = io.StringIO()
    with ProgressLine("getting jars", out=out) as line:
        for clock[0], what in ((1, "a.jar"), (6, "b.jar"), (7, "c.jar"), (12, "d.jar")):
            line.show(what)
        line.note("d.jar, 7 bytes")
        clock[0] = 15
    assert out.getvalue().splitlines() == [
        "penstock: getting jars ...",
        "penstock: getting jars: b.jar, 6 s",
        "penstock: getting jars: d.jar, 12 s",
        "penstock: d.jar, 7 bytes",
        "penstock: getting jars: done in 15.0 s",
    ]


def test_a_long_step_is_said_again(clock: list[float]) -> None:
    out = io.StringIO()
    with ProgressLine("starting", out=out, lead="  ", gap_s=0) as line:
        for clock[0], what in (
            (0, "Java"),
            (4, "Java"),
            (9, "Spark"),
            (15, "Spark"),
            (19, "Spark"),
        ):
            line.show(what)
    assert out.getvalue().splitlines() == [
        "  starting ...",
        "  starting: Java, 0 s",
        "  starting: Spark, 9 s",
        "  starting: Spark, 19 s",
        "  starting: done in 19.0 s",
    ]


def test_a_terminal_gets_one_line_rewritten(clock: list[float]) -> None:
    out = Terminal()
    with ProgressLine("getting jars", out=out) as line:
        line.show("a" * 500)
        clock[0] = 1
        line.show("b.jar")
    first, cut, second, last = out.getvalue().split("\r")[1:]
    assert first == "penstock: getting jars ...\x1b[K"
    assert len(cut) < 500
    assert second == "penstock: getting jars: b.jar, 1 s\x1b[K"
    assert last == "penstock: getting jars: done in 1.0 s\x1b[K\n"


def test_a_failure_is_said() -> None:
    out = io.StringIO()
    with pytest.raises(ValueError), ProgressLine("getting jars", out=out):
        raise ValueError
    assert "failed in" in out.getvalue()
