"""How far from the mean a broker may be before something is moved for it. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Band(NamedTuple):
    low: float
    mean: float
    high: float

    def outside(self, load: float) -> float:
        return max(load - self.high, self.low - load, 0.0)


def byte_band(loads: Mapping[int, int], brokers: Sequence[int], within: float) -> Band:
    mean = sum(loads[each] for each in brokers) / len(brokers)
    return Band(mean * (1 - within), mean, mean * (1 + within))


def count_band(loads: Mapping[int, int], brokers: Sequence[int], within: float) -> Band:
    """Whole replicas: there is always room for one more or less than the mean."""
    mean = sum(loads[each] for each in brokers) / len(brokers)
    return Band(math.floor(mean * (1 - within)), mean, math.ceil(mean * (1 + within)))
