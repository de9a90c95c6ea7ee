"""A measured quantity of a large cluster, and the table of all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

T = TypeVar("T")
_GAP = "\t"


class Figure(NamedTuple):
    what: str
    value: str

    def as_line(self) -> str:
        return _GAP.join(self)

    @classmethod
    def of_line(cls, line: str) -> Figure:
        what, _, value = line.partition(_GAP)
        return cls(what, value)


def table(figures: Iterable[Figure]) -> str:
    lines = ["| what | measured |", "| --- | ---: |"]
    return "\n".join(lines + [f"| {one.what} | {one.value} |" for one in figures]) + "\n"


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """With the processor time that it took: others use this machine too."""
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def seconds(value: float) -> str:
    if value < 1e-3:
        return f"{value * 1e6:,.0f} µs"
    return f"{value * 1000:,.0f} ms" if value < 1 else f"{value:,.1f} s"


def megabytes(value: float) -> str:
    return f"{value / 1e6:,.1f} MB"
