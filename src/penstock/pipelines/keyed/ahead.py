"""Rows that wait for a task in real-time mode, taken together. Knows nothing of their content.

There a task is given rows as they come, and commits what it has. A thread takes them from Spark as
fast as they come; so those that came while a transaction was being committed are all in the next
one, and under load transactions grow instead of queueing up.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from typing import TypeVar

_T = TypeVar("_T")
_AHEAD_MAX = 5_000
_FULL_WAIT_S = 0.001
_END = object()


def taken_together(items: Iterator[_T]) -> Iterator[list[_T]]:
    """Lists of items, each of all that is there when it is asked for; never an empty one."""
    waiting: queue.SimpleQueue[object] = queue.SimpleQueue()
    failure: list[BaseException] = []

    def fill() -> None:
        try:
            for item in items:
                while waiting.qsize() >= _AHEAD_MAX:
                    time.sleep(_FULL_WAIT_S)
                waiting.put(item)
        except BaseException as error:
            failure.append(error)
        waiting.put(_END)

    threading.Thread(target=fill, name="rows-ahead", daemon=True).start()
    ended = False
    while not ended:
        taken = [waiting.get()]
        for _ in range(waiting.qsize()):
            taken.append(waiting.get())
        ended = taken[-1] is _END
        found: list[_T] = [each for each in taken if each is not _END]  # type: ignore[misc]
        if found:
            yield found
    if failure:
        raise failure[0]
