"""Garbage collection in Spark's Python workers, so that it costs what a task made and no more.

After each task Spark has its worker look at everything it holds for garbage. With Arrow, pandas and
Spark's own modules loaded that takes 40 ms of a processor, more than judging two thousand events;
and the worker takes its next task only then. What was loaded before the first task stays for good,
so it is left out of every look. Since there is one after each task, those in between may be rare.
"""

from __future__ import annotations

import gc

# Objects made before a look at the young ones; Python's own 700 are a tenth of a busy task's time.
_YOUNG_MAX = 50_000
_settled = False


def settle() -> None:
    """At the beginning of a task; only the first one of a process has anything to do."""
    global _settled
    if _settled:
        return
    _settled = True
    gc.collect()
    gc.freeze()
    _, *older = gc.get_threshold()
    gc.set_threshold(_YOUNG_MAX, *older)
