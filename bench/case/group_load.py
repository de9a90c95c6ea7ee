"""A node that starts with a long log of commits: the time until it knows all of them again."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.case.scale import Scale
from bench.load.child import Load, Spec, run_load
from bench.peer import Broker, Peer, new_broker, topic_settings

PARTITIONS = 100


class OffsetLog:
    """A stopped broker whose log is full, used in every round."""

    def __init__(self, peer: Peer, scale: Scale) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="bench-")
        self.broker: Broker = new_broker(peer.name, Path(self._scratch.name) / "data")
        groups = scale.coordinator_keys // PARTITIONS
        self.spec: Spec = {
            "port": self.broker.port,
            "groups": groups,
            "partitions": PARTITIONS,
            "rounds": scale.coordinator_commits // scale.coordinator_keys,
        }
        self.broker.start()
        try:
            own = Peer(peer.name, self.broker, topic_settings(peer.name))
            own.set_internal_flush()
            self.spec["topic"] = own.create_topic(PARTITIONS)
            run_load("offset_log", self.spec | {"kind": "write"}, timeout_s=300)
        finally:
            self.broker.stop()


_logs: dict[str, OffsetLog] = {}


def coordinator_start(peer: Peer, scale: Scale) -> dict[str, float]:
    kept = _logs.get(peer.name)
    if kept is None:
        kept = _logs[peer.name] = OffsetLog(peer, scale)
    waiting = Load("offset_log", kept.spec | {"kind": "wait"}, timeout_s=120)
    waiting.wait_ready()
    began = time.monotonic()
    kept.broker.start()
    try:
        answered = time.monotonic()
        loaded = float(waiting.result()["loaded_at"])
    finally:
        kept.broker.stop()
    return {"group.load": loaded - began, "group.load.after": max(0.0, loaded - answered)}
