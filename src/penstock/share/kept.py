"""What is kept of one share partition, as an immutable value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from penstock.share.batch import StateBatch, overlaid

UNKNOWN_OFFSET = -1
UNKNOWN_COUNT = -1


class KeptState(NamedTuple):
    snapshot_epoch: int = 0
    state_epoch: int = 0
    """Grows with every new beginning: what is written on behalf of an earlier one is refused."""
    leader_epoch: int = 0
    """Of the leader that wrote last: what an earlier one writes is refused."""
    start_offset: int = UNKNOWN_OFFSET
    """Nobody has read it yet, if it is unknown: the leader chooses where to begin."""
    done_count: int = UNKNOWN_COUNT
    """Of offsets at or behind the start that are done with."""
    created_ms: int = 0
    written_ms: int = 0
    batches: tuple[StateBatch, ...] = ()

    def updated(
        self,
        leader_epoch: int,
        start_offset: int,
        done_count: int,
        batches: Sequence[StateBatch],
    ) -> KeptState:
        start = self.start_offset if start_offset == UNKNOWN_OFFSET else start_offset
        return self._replace(
            leader_epoch=leader_epoch,
            start_offset=start,
            done_count=done_count,
            batches=overlaid(self.batches, batches, start),
        )
