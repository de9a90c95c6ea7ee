"""How far moves are, and how long they still take. Pure: told sizes and times, it counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from penstock.cli.operator.state import TopicPartition

_WINDOW_S = 30.0
"""The rate is that of the last half minute: throttles change, and so does the load."""

Copy = tuple[TopicPartition, int]
"""A replica that is being made: of which partition, on which broker."""


class Reading(NamedTuple):
    """Bytes of the copies that are being made, and of the leaders they are made from."""

    copied: Mapping[Copy, int]
    wanted: Mapping[Copy, int]


class MoveEstimate:
    def __init__(self, total: int, now_s: float) -> None:
        self.total = total
        """How many moves there are to wait for."""
        self.done = 0
        self.bytes_left = 0
        self._finished_bytes = 0
        self._wanted: dict[Copy, int] = {}
        self._started: dict[Copy, int] = {}
        self._readings: list[tuple[float, int]] = []
        self._now_s = now_s

    def update(self, done: int, reading: Reading, now_s: float) -> None:
        self.done, self._now_s = done, now_s
        for copy in set(self._wanted) - set(reading.wanted):
            # Gone from the list: it is whole.
            self._finished_bytes += self._wanted.pop(copy) - self._started.get(copy, 0)
        self._wanted |= reading.wanted
        copied = 0
        self.bytes_left = 0
        for copy, wanted in reading.wanted.items():
            have = reading.copied.get(copy, 0)
            self._started.setdefault(copy, have)
            copied += have - self._started[copy]
            self.bytes_left += max(wanted - have, 0)
        self._readings.append((now_s, self._finished_bytes + copied))
        while len(self._readings) > 2 and self._readings[1][0] < now_s - _WINDOW_S:
            self._readings.pop(0)

    @property
    def rate_bytes_s(self) -> float:
        if len(self._readings) < 2:
            return 0.0
        (first_s, first), (last_s, last) = self._readings[0], self._readings[-1]
        return max(last - first, 0) / (last_s - first_s) if last_s > first_s else 0.0

    @property
    def seconds_left(self) -> float | None:
        """None while nothing was copied yet: too early to tell, or it stands still."""
        if self.done == self.total:
            return 0.0
        rate = self.rate_bytes_s
        return self.bytes_left / rate if rate else None


def show_duration(seconds: float) -> str:
    """In its two largest units."""
    whole = round(seconds)
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    for index, (unit, size) in enumerate(units):
        if whole >= size or unit == "s":
            text = f"{whole // size} {unit}"
            if index + 1 < len(units) and (rest := whole % size // units[index + 1][1]):
                text += f" {rest} {units[index + 1][0]}"
            return text
    raise AssertionError("unreachable")
