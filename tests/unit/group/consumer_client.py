"""Clients of the consumer protocol, played: what they have, and what they tell of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.group import Caller, GroupEntry
from penstock.machine import Decision, Parked
from penstock.model.error import ErrorCode
from penstock.model.id import TopicId
from penstock.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    RequestTopicPartitions,
)
from tests.transcripts.group_world import GroupWorld

Partition = tuple[TopicId, int]

FENCED = (
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNRELEASED_INSTANCE_ID,
    ErrorCode.FENCED_INSTANCE_ID,
)


@dataclass
class ConsumerClient:
    """`owned` is what it reads from; `assigned` what it was last told to. It moves from one to the
    other when it gets to it, and says so with its next heartbeat."""

    member_id: str
    topics: list[str]
    group: str = "g"
    regex: str | None = None
    instance: str | None = None
    assignor: str | None = None
    rebalance_timeout_ms: int = 60_000
    epoch: int = 0
    owned: set[Partition] = field(default_factory=set)
    assigned: set[Partition] = field(default_factory=set)
    must_send_all: bool = True
    last_heard_ms: int = 0

    def request(self) -> ConsumerGroupHeartbeatRequest:
        if self.epoch == 0:
            self.owned, self.assigned = set(), set()
        full = self.must_send_all or self.epoch == 0
        return ConsumerGroupHeartbeatRequest(
            group_id=self.group,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=self.instance,
            rebalance_timeout_ms=self.rebalance_timeout_ms if full else -1,
            subscribed_topic_names=self.topics if full else None,
            subscribed_topic_regex=self.regex if full else None,
            server_assignor=self.assignor if full else None,
            topic_partitions=_by_topic(self.owned),
        )

    def ask(self, world: GroupWorld) -> Decision[GroupEntry, ConsumerGroupHeartbeatResponse]:
        return world.shard.consumer.decide_heartbeat(
            self.request(), Caller(1, self.member_id, "/host"), world.now_ms
        )

    def heartbeat(self, world: GroupWorld) -> ErrorCode:
        decision = self.ask(world)
        world.take(decision)
        assert not isinstance(decision.reply, Parked)
        return self.hear(decision.reply, world.now_ms)

    def hear(self, reply: ConsumerGroupHeartbeatResponse, now_ms: int) -> ErrorCode:
        error = ErrorCode(reply.error_code)
        if error in FENCED:
            self.rejoin()
        elif error is ErrorCode.NONE:
            self.epoch, self.must_send_all, self.last_heard_ms = reply.member_epoch, False, now_ms
            if reply.assignment is not None:
                self.assigned = {
                    (one.topic_id, partition)
                    for one in reply.assignment.topic_partitions
                    for partition in one.partitions
                }
        return error

    def reconcile(self) -> None:
        self.owned = set(self.assigned)

    def rejoin(self) -> None:
        self.epoch, self.must_send_all = 0, True
        self.owned, self.assigned = set(), set()

    def leave(self, world: GroupWorld, epoch: int = -1) -> None:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group,
            member_id=self.member_id,
            instance_id=self.instance,
            member_epoch=epoch,
        )
        self.rejoin()
        world.take(world.shard.consumer.decide_heartbeat(request, Caller(1), world.now_ms))


def _by_topic(owned: set[Partition]) -> list[RequestTopicPartitions]:
    topics = sorted({topic_id for topic_id, _ in owned})
    return [
        RequestTopicPartitions(
            topic_id=topic_id, partitions=sorted(p for one, p in owned if one == topic_id)
        )
        for topic_id in topics
    ]
