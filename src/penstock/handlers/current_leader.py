"""Who leads a partition that was asked for here in vain, so that nobody has to ask (KIP-951)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, TypeVar

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


Told = TypeVar("Told", covariant=True)
Leader = TypeVar("Leader")


class NewLeader(Protocol[Told]):
    """Makes the leader field of an API's answer."""

    def __call__(self, *, leader_id: int, leader_epoch: int) -> Told: ...


class Answer(Protocol[Leader]):
    """One partition of an answer."""

    error_code: int
    current_leader: Leader


def tell_leaders(
    broker: Broker,
    listener: str,
    answers: Iterable[tuple[str, bytes, int, Answer[Leader]]],
    new_leader: NewLeader[Leader],
) -> list[LeaderAddress]:
    """Names the leader in the answer of each partition that was asked for in vain: by topic name,
    or else id, and index. Returns where clients of this listener reach them."""
    leaders: set[int] = set()
    for topic, topic_id, index, answer in answers:
        if answer.error_code not in MOVED:
            continue
        found = _leader_of(broker, topic, topic_id, index)
        if found is not None:
            answer.current_leader = new_leader(leader_id=found.broker_id, leader_epoch=found.epoch)
            leaders.add(found.broker_id)
    return list(_addresses_of(broker, leaders, listener))


def _leader_of(broker: Broker, topic: str, topic_id: bytes, index: int) -> CurrentLeader | None:
    topics = broker.image.topics
    found = topics.get(topic) if topic else topics.get_by_id(topic_id)
    partition = None if found is None else found.partitions.get(index)
    if partition is None or partition.leader < 0:
        return None
    return CurrentLeader(partition.leader, partition.leader_epoch)


def _addresses_of(broker: Broker, leaders: Iterable[int], listener: str) -> Iterator[LeaderAddress]:
    for broker_id in sorted(leaders):
        image = broker.image.brokers.get(broker_id)
        endpoint = None if image is None else image.endpoint(listener)
        if image is not None and endpoint is not None:
            yield LeaderAddress(broker_id, endpoint.host, endpoint.port, image.rack)
