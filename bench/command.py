"""What the commands of all benchmarks do before they measure anything."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable

from tools.apache_kafka import missing_prerequisite

CANNOT_RUN = 2


def begin() -> Callable[[str], None] | None:
    """How to say what is going on. None, after saying why, where nothing can be measured."""
    if sys.platform != "linux":
        print("The benchmark reads /proc and runs on Linux only.", file=sys.stderr)
        return None
    why_not = missing_prerequisite()
    if why_not:
        print(f"The benchmark needs Apache Kafka and Java: {why_not}", file=sys.stderr)
        return None
    # Told to stop, it must still end what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    return lambda line: print(f"[{time.monotonic() - began:6.1f} s] {line}", flush=True)
