"""Which replica a consumer is sent to: the nearest one that is sure to have what it asks for.

The rules of Kafka's RackAwareReplicaSelector (KIP-392). Only replicas that are in the committed
in-sync set and whose broker is active count: others may lag without end (KAFKA-14372, 15390).
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.replication.leader import Brokers, Leader

RackOf = Callable[[int], str | None]


def nearest_replica(
    leader: Leader, brokers: Brokers, rack_of: RackOf, rack: str, offset: int
) -> int:
    """The replica to read from at the offset, for a consumer in this rack."""
    if not rack or rack_of(leader.node_id) == rack:
        return leader.node_id
    best, best_end = leader.node_id, -1
    for one in leader.followers():
        if one.end_offset <= best_end or one.replica_id not in leader.isr:
            continue
        if not one.log_start_offset <= offset <= one.end_offset:
            continue
        broker = brokers(one.replica_id)
        if broker is not None and not broker.fenced and rack_of(one.replica_id) == rack:
            best, best_end = one.replica_id, one.end_offset
    return best
