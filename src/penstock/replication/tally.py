"""What has happened to the replicas that a node leads, counted for whoever watches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class ReplicaTally:
    """Since the node started."""

    isr_shrinks: int = 0
    isr_expands: int = 0
    elections: int = 0
    """Partitions that came to be led here, new ones left out."""
    unclean_elections: int = 0
    """Of those, the ones without anybody in sync: records may be lost by them."""

    def note_isr(self, before: Sequence[int], after: Sequence[int]) -> None:
        if not set(after) >= set(before):
            self.isr_shrinks += 1
        if not set(before) >= set(after):
            self.isr_expands += 1

    def note_election(self, *, is_unclean: bool) -> None:
        self.elections += 1
        if is_unclean:
            self.unclean_elections += 1
