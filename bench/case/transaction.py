"""A topic copied exactly once, a hundred records a transaction."""

from __future__ import annotations

import itertools

from bench.case.scale import Scale
from bench.load.child import LoadFailedError, run_load
from bench.peer import Peer

PARTITIONS = 3
RECORDS = 100
SIZE = 100

_serial = itertools.count()


def transaction(peer: Peer, scale: Scale) -> dict[str, float]:
    peer.set_internal_flush()
    bootstrap = peer.broker.bootstrap_servers
    warmup = scale.transactions // 4
    count = (scale.transactions + warmup) * RECORDS
    with peer.topic(PARTITIONS) as source, peer.topic(PARTITIONS) as target:
        filling = {"bootstrap": bootstrap, "topic": source, "size": SIZE, "count": count}
        run_load("produce", filling, timeout_s=120)
        spec = {
            "bootstrap": bootstrap,
            "source": source,
            "target": target,
            "transactional_id": f"copy-{next(_serial)}",
            "size": RECORDS,
            "warmup": warmup,
            "count": scale.transactions,
        }
        answer = run_load("transaction", spec, timeout_s=240)
        stored = peer.end_offsets(target, PARTITIONS)
    if stored < count:
        raise LoadFailedError(f"{stored} records stored of {count} copied")
    return {
        "transaction.copy": answer["records_per_s"],
        "transaction.commit.p50": answer["p50_ms"],
        "transaction.commit.p99": answer["p99_ms"],
        **_end(peer, scale),
    }


def _end(peer: Peer, scale: Scale) -> dict[str, float]:
    """The broker's part of a commit: the request that ends it, and nothing of a client."""
    with peer.topic(1) as topic:
        spec = {
            "port": peer.broker.port,
            "topic": topic,
            "transactional_id": f"end-{next(_serial)}",
            "warmup": 2 * scale.transactions,
            "count": 2 * scale.transactions,
        }
        answer = run_load("end_txn", spec, timeout_s=240)
    return {"transaction.end.p50": answer["p50_ms"], "transaction.end.p99": answer["p99_ms"]}
