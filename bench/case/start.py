"""A new node on an empty directory: its first answer, and its memory when nothing happens."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.case.scale import Scale
from bench.peer import Peer, new_broker, timed_start
from bench.process import rss_mb


def start(peer: Peer, scale: Scale) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        broker = new_broker(peer.name, Path(scratch) / "data")
        try:
            seconds = timed_start(broker)
            time.sleep(scale.settle_seconds)
            return {"start": seconds, "memory.idle": rss_mb(broker.pid)}
        finally:
            broker.stop()
