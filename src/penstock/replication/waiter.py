"""Who waits at a partition: for records to be there, or to be as safe as was asked for."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from penstock.replication.partition import Partition


class Watcher(Protocol):
    """Somebody who waits for committed records of a partition, or for written ones. It hears once,
    also when the partition's role, its in-sync set or the start of its log has changed."""

    def on_news(self, partition: Partition) -> None: ...


Watchers = dict[Watcher, None]
"""In the order in which they came, which is that in which they hear."""


class AckWaiter(Protocol):
    """Somebody whose answer depends on records being as safe as was asked for."""

    def on_acknowledged(self, partition: Partition) -> None: ...

    def on_unacknowledged(self, partition: Partition, error: Exception) -> None: ...


Waiting = deque[tuple[int, AckWaiter]]
