"""Sums over the last few seconds, as Kafka's metrics keep them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple


class Windows(NamedTuple):
    """`quota.window.num` windows of `quota.window.size.seconds` each."""

    number: int = 11
    size_ms: float = 1000.0

    @property
    def span_ms(self) -> float:
        """After so long without anything a sum is zero again."""
        return self.number * self.size_ms


class _Sample:
    __slots__ = ("last_ms", "start_ms", "value")

    def __init__(self, now_ms: float) -> None:
        self.start_ms = now_ms
        self.last_ms = now_ms
        self.value = 0.0


class Samples:
    """A window begins with the first value in it, and counts until its last one is too old."""

    __slots__ = ("_samples", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        # One more than there are windows: the oldest may reach into the time that counts.
        self._samples: deque[_Sample] = deque(maxlen=windows.number + 1)

    def add(self, value: float, now_ms: float) -> None:
        samples = self._samples
        if not samples or now_ms - samples[-1].start_ms >= self._windows.size_ms:
            samples.append(_Sample(now_ms))
        sample = samples[-1]
        sample.value += value
        sample.last_ms = now_ms

    def total(self, now_ms: float) -> float:
        oldest_ms = now_ms - self._windows.span_ms
        samples = self._samples
        while samples and samples[0].last_ms <= oldest_ms:
            samples.popleft()
        return sum(sample.value for sample in samples)

    def elapsed_ms(self, now_ms: float) -> float:
        """The time that the sum is over: at least all windows but one, so that the first value of a
        client is not taken for its rate. After `total`, which drops what is too old."""
        size_ms, least = self._windows.size_ms, self._windows.number - 1
        elapsed_ms = now_ms - self._samples[0].start_ms if self._samples else 0.0
        whole = int(elapsed_ms // size_ms)
        return max(elapsed_ms + max(0, least - whole) * size_ms, 1.0)
