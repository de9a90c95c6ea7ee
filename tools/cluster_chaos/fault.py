"""Careless nodes: each function breaks one promise of replication in the process it is called in.

Only for showing that the judges notice. Given to `Cluster(prepare=...)` by name.
"""

from __future__ import annotations

from penstock.coordinator.journal import PartitionJournal
from penstock.replication.follower import Append, Follower, Truncate
from penstock.replication.leader import Leader
from penstock.replication.partition import Partition
from penstock.storage.log import Log
from tools.cluster_chaos.power import keep_synced_sizes
from tools.exactly_once.setup import SOURCE

_LATE_RECORDS = 3


def name_of(fault: str) -> str:
    """As `prepare` wants it."""
    return f"{__name__}:{fault}"


def ignore_min_isr() -> None:
    """A leader that is alone in sync acknowledges."""
    high_watermark = Leader.high_watermark

    def of_anybody(
        self: Leader, current: int, safe: int, min_isr: int, end_offset: int, now_ms: int
    ) -> int:
        return high_watermark(self, current, safe, 1, end_offset, now_ms)

    Leader.may_append = lambda self, min_isr: True  # type: ignore[method-assign]
    Leader.is_enough = lambda self, min_isr: True  # type: ignore[method-assign]
    Leader.high_watermark = of_anybody  # type: ignore[method-assign,assignment]


def truncate_by_high_watermark() -> None:
    """A follower of a new leader throws away all that it does not know to be committed, though it
    may have acknowledged it. It hears a little late what is committed, as followers may: so there
    is always something. Only in the source: transactions that lose their records or their
    coordinator hang, and whoever waits for them cannot tell what was lost."""
    high_watermark, begin = Append.high_watermark, Follower.begin

    def of_before(self: Append, end_offset: int) -> int:
        return max(high_watermark(self, end_offset) - _LATE_RECORDS, 0)

    def begin_anew(self: Follower) -> Truncate | None:
        log = self._log
        if isinstance(log, Log) and log.partition.topic != SOURCE:
            return begin(self)
        return Truncate(max(log.high_watermark, log.log_start_offset))

    Append.high_watermark = of_before  # type: ignore[method-assign]
    Follower.begin = begin_anew  # type: ignore[method-assign]


def unfenced_coordinator() -> None:
    """A coordinator answers when it has written, whether its replicas follow or another leads."""

    async def wait_committed(self: PartitionJournal[object], end_offset: int) -> None:
        return

    PartitionJournal.wait_committed = wait_committed  # type: ignore[method-assign,assignment]
    PartitionJournal.is_committed = lambda self, end_offset: True  # type: ignore[method-assign]


def acknowledge_before_flush() -> None:
    """A follower asks for more, which says that it has the rest, and syncs some time later."""
    keep_synced_sizes()
    Partition.safe_offset = property(  # type: ignore[assignment,method-assign]
        lambda self: self.log.end_offset
    )
    Partition.make_safe = lambda self: None  # type: ignore[method-assign]


FAULTS = (
    ignore_min_isr.__name__,
    truncate_by_high_watermark.__name__,
    unfenced_coordinator.__name__,
    acknowledge_before_flush.__name__,
)
