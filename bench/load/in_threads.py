"""Many connections at once: how long they take altogether, after some to warm up."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def timed(one: Callable[[int], None], count: int, threads: int) -> dict[str, Any]:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, range(count // 10)))
        began = time.perf_counter()
        list(pool.map(one, range(count)))
        elapsed = time.perf_counter() - began
    return {"seconds": elapsed, "client_cpu_seconds": time.process_time()}
