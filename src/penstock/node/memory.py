"""The garbage collector of a process that is one node."""

from __future__ import annotations

import gc

GC_THRESHOLD = 50_000


def settle_memory() -> None:
    """What is there now stays: keep the garbage collector from looking at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 50)
