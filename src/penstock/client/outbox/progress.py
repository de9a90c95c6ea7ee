"""What a relay has done so far: counted by its shards, read by whoever shows it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from penstock.client.outbox.event import Event

_LATENCIES_MAX = 10_000


@dataclass(frozen=True, slots=True)
class RelayProgress:
    sent: int
    batches: int
    set_aside: int
    errors: int
    shards: int
    """Relayed by this process now."""
    latency_ms_p50: float
    latency_ms_p99: float
    """From `add` to acknowledged, of the last ten thousand events."""
    last_error: str | None


class ProgressCount:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent = self._batches = self._set_aside = self._errors = self._shards = 0
        self._latencies_ms: deque[float] = deque(maxlen=_LATENCIES_MAX)
        self._last_error: str | None = None

    def claimed(self, change: int) -> None:
        with self._lock:
            self._shards += change

    def sent(self, events: Iterable[Event]) -> None:
        now_ms = time.time_ns() / 1_000_000
        latencies = [now_ms - each.created_ms for each in events]
        with self._lock:
            self._sent += len(latencies)
            self._batches += 1
            self._latencies_ms.extend(latencies)

    def failed(self, error: str) -> None:
        with self._lock:
            self._errors += 1
            self._last_error = error

    def set_aside(self) -> None:
        with self._lock:
            self._set_aside += 1

    def read(self) -> RelayProgress:
        with self._lock:
            ordered = sorted(self._latencies_ms)
            return RelayProgress(
                sent=self._sent,
                batches=self._batches,
                set_aside=self._set_aside,
                errors=self._errors,
                shards=self._shards,
                latency_ms_p50=_quantile(ordered, 0.5),
                latency_ms_p99=_quantile(ordered, 0.99),
                last_error=self._last_error,
            )


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
