"""Those who wait for something of a partition, as it sees them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from penstock.replication.partition import Partition


class Watcher(Protocol):
    """Somebody who waits for new committed records of a partition."""

    def on_commit(self, partition: Partition) -> None: ...


class AppendWatcher(Protocol):
    """Somebody who waits for records that are written here: a follower."""

    def on_append(self, partition: Partition) -> None: ...


class StartWatcher(Protocol):
    """Somebody who waits for records to be gone from every replica."""

    def on_start_moved(self, partition: Partition) -> None: ...


class AckWaiter(Protocol):
    """Somebody whose answer depends on records being as safe as was asked for."""

    def on_acknowledged(self, partition: Partition) -> None: ...

    def on_unacknowledged(self, partition: Partition, error: Exception) -> None: ...


Waiting = deque[tuple[int, AckWaiter]]
