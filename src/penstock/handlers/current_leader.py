"""Who leads a partition that was asked for here in vain, so that nobody has to ask (KIP-951)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from penstock.handlers.broker import Broker
from penstock.model.error import ErrorCode

MOVED = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})


class CurrentLeader(NamedTuple):
    broker_id: int
    epoch: int


class LeaderAddress(NamedTuple):
    broker_id: int
    host: str
    port: int
    rack: str | None


def leader_of(broker: Broker, topic: str, topic_id: bytes, index: int) -> CurrentLeader | None:
    topics = broker.image.topics
    found = topics.get(topic) if topic else topics.get_by_id(topic_id)
    partition = None if found is None else found.partitions.get(index)
    if partition is None or partition.leader < 0:
        return None
    return CurrentLeader(partition.leader, partition.leader_epoch)


def addresses_of(
    broker: Broker, leaders: Iterable[CurrentLeader], listener: str
) -> Iterator[LeaderAddress]:
    """Each once, where clients of this listener reach it."""
    for broker_id in sorted({one.broker_id for one in leaders}):
        image = broker.image.brokers.get(broker_id)
        endpoint = None if image is None else image.endpoint(listener)
        if image is not None and endpoint is not None:
            yield LeaderAddress(broker_id, endpoint.host, endpoint.port, image.rack)
