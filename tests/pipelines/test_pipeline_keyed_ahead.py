"""Rows of real-time mode that wait are taken together."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from penstock.pipelines.keyed.ahead import taken_together


def test_what_came_meanwhile_is_in_the_next_list() -> None:
    more, asked = threading.Event(), threading.Event()

    def items() -> Iterator[int]:
        yield 1
        assert more.wait(30)
        yield from range(2, 1000)
        asked.set()

    lists = taken_together(items())
    assert next(lists) == [1]  # it waits for no other
    more.set()
    assert asked.wait(30)
    rest = list(lists)
    assert [each for found in rest for each in found] == list(range(2, 1000))
    assert len(rest) <= 2


def test_a_failure_comes_after_what_came_before_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise EOFError("Spark is gone")

    lists = taken_together(items())
    assert next(lists) == [1]
    with pytest.raises(EOFError, match="Spark is gone"):
        next(lists)
