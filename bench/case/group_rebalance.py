"""A large group: one joins, one leaves, and the time until all are stable again."""

from __future__ import annotations

import itertools

from bench.case.scale import Scale
from bench.load.child import run_load
from bench.peer import Peer

_serial = itertools.count()


def rebalance(peer: Peer, scale: Scale) -> dict[str, float]:
    peer.set_internal_flush()
    with peer.topic(1) as topic:
        spec = {
            "port": peer.broker.port,
            "topic": topic,
            "group": f"crowd-{next(_serial)}",
            "members": scale.rebalance_members,
            "repeats": scale.rebalance_repeats,
        }
        answer = run_load("rebalance", spec, timeout_s=180)
    return {"group.join": answer["join_ms"], "group.leave": answer["leave_ms"]}
