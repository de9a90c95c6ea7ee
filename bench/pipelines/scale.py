"""How much each pipeline workload does: for steady figures, or just to see that it works."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class Scale:
    stateless_rate: int
    # The first rate has a figure of its own, and so has the last.
    ladder: tuple[int, ...]
    first_warmup_seconds: float
    warmup_seconds: float
    # Its operator runs in the JVM too, whose compiler is at work in the first minute.
    store_warmup_seconds: float
    measured_seconds: float
    # As long as a real-time batch, so that it holds one boundary between two.
    stateless_seconds: float
    drain_seconds: float
    accounts: int
    copy_records: int
    read_megabytes: int
    settle_seconds: float

    @property
    def is_climb(self) -> bool:
        """Whether the rates are close enough to say which of them is the largest that holds."""
        return len(self.ladder) > 2

    def without_climb(self) -> Scale:
        """The rates that have figures of their own, and none between them."""
        return replace(self, ladder=tuple(dict.fromkeys((self.ladder[0], self.ladder[-1]))))


FULL: Final = Scale(
    stateless_rate=50_000,
    ladder=(10_000, 15_000, 20_000, 30_000, 40_000, 50_000),
    first_warmup_seconds=20.0,
    warmup_seconds=8.0,
    store_warmup_seconds=60.0,
    measured_seconds=25.0,
    stateless_seconds=60.0,
    drain_seconds=15.0,
    accounts=1_000_000,
    copy_records=1_000_000,
    read_megabytes=10_000,
    settle_seconds=2.0,
)
QUICK: Final = Scale(
    stateless_rate=5_000,
    ladder=(1_000, 1_500, 2_000),
    first_warmup_seconds=8.0,
    warmup_seconds=3.0,
    store_warmup_seconds=8.0,
    measured_seconds=6.0,
    stateless_seconds=6.0,
    drain_seconds=40.0,
    accounts=20_000,
    copy_records=100_000,
    read_megabytes=500,
    settle_seconds=0.2,
)
