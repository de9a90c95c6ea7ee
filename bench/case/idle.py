"""What consumers cost a node that has nothing for them."""

from __future__ import annotations

import time

from bench.case.scale import Scale
from bench.load.child import Load, LoadFailedError
from bench.peer import Peer
from bench.process import cpu_seconds

PARTITIONS = 100


def idle(peer: Peer, scale: Scale) -> dict[str, float]:
    with peer.topic(PARTITIONS) as topic:
        spec = {
            "port": peer.broker.port,
            "topic": topic,
            "partitions": PARTITIONS,
            "consumers": scale.idle_consumers,
            "seconds": scale.idle_seconds + 3,
        }
        load = Load("idle", spec, timeout_s=120)
        load.wait_ready()
        time.sleep(1)
        before, began = cpu_seconds(peer.broker.pid), time.monotonic()
        time.sleep(scale.idle_seconds)
        used = cpu_seconds(peer.broker.pid) - before
        elapsed = time.monotonic() - began
        answer = load.result()
    # Every consumer is answered twice a second; a broker that stops answering is not idle but hung.
    if answer["lost"] or answer["answers_per_s"] < scale.idle_consumers:
        raise LoadFailedError(f"the idle consumers were not served: {answer}")
    return {"idle.cpu": 100 * used / elapsed}
