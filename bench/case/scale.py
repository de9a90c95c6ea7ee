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
    commit_groups: int
    commit_seconds: float
    rebalance_members: int
    rebalance_repeats: int
    coordinator_commits: int
    coordinator_keys: int
    heartbeat_groups: int
    transactions: int


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
    commit_groups=100,
    commit_seconds=9.0,
    rebalance_members=200,
    rebalance_repeats=15,
    coordinator_commits=1_000_000,
    coordinator_keys=100_000,
    heartbeat_groups=10_000,
    transactions=800,
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
    commit_groups=100,
    commit_seconds=2.0,
    rebalance_members=200,
    rebalance_repeats=6,
    coordinator_commits=100_000,
    coordinator_keys=10_000,
    heartbeat_groups=2_000,
    transactions=60,
)
