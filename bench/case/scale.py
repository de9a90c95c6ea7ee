"""How much each case does: enough for steady figures, or just enough to see that it works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Scale:
    native_records: dict[int, int]
    java_records: dict[int, int]
    consume_records: int
    latency_records: int
    request_rounds: int
    partitions: int
    idle_consumers: int
    idle_seconds: float
    settle_seconds: float


FULL: Final = Scale(
    native_records={100: 3_000_000, 1024: 600_000},
    java_records={100: 1_500_000, 1024: 400_000},
    consume_records=800_000,
    latency_records=5_000,
    request_rounds=2_000,
    partitions=10_000,
    idle_consumers=2_000,
    idle_seconds=15.0,
    settle_seconds=2.0,
)
QUICK: Final = Scale(
    native_records={100: 200_000, 1024: 50_000},
    java_records={100: 100_000, 1024: 30_000},
    consume_records=50_000,
    latency_records=300,
    request_rounds=200,
    partitions=500,
    idle_consumers=200,
    idle_seconds=3.0,
    settle_seconds=0.2,
)
