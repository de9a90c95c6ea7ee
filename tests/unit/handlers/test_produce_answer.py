"""An answer to a produce whose batches come to be waited for at different times."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from penstock.handlers.call import Call, ClientState
from penstock.handlers.produce_answer import SafeAnswer
from penstock.metadata.broker import BrokerImage, Endpoint
from penstock.metadata.image import ClusterImage
from penstock.metadata.topic import TopicImage
from penstock.model.error import ErrorCode
from penstock.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from penstock.replication.partition import Partition
from penstock.replication.waiter import AckWaiter
from tests.unit.handlers.fetch_kit import Turns
from tests.unit.replication.replica_kit import image, new_partition
from tests.unit.storage.storage_kit import batch


class FollowedPartition:
    """Led here, and acknowledged when the test says so."""

    is_led = True
    leader = object()

    def __init__(self) -> None:
        self.waiter: AckWaiter | None = None

    def await_acknowledged(self, end_offset: int, waiter: AckWaiter, acks: int) -> None:
        self.waiter = waiter

    def is_acknowledged(self, end_offset: int, acks: int) -> bool:
        return self.waiter is None

    def acknowledge(self) -> None:
        waiter, self.waiter = self.waiter, None
        assert waiter is not None
        waiter.on_acknowledged(cast(Partition, self))


class Stand:
    """A produce to one partition that waits for followers and to one that is still checked."""

    def __init__(self) -> None:
        self.loop = Turns()
        self.first, self.second = FollowedPartition(), FollowedPartition()
        self.answers = [PartitionProduceResponse(index=0), PartitionProduceResponse(index=1)]
        self.safe = SafeAnswer(
            cast(Any, SimpleNamespace(loop=self.loop)),
            ProduceRequest(acks=-1, timeout_ms=10),
            Call(ClientState("127.0.0.1:1"), 12),
            ProduceResponse(),
            [self.appended(0)],
            held=True,
        )
        self.told: list[list[int]] = []
        self.safe.later.listen(lambda _: self.told.append([one.error_code for one in self.answers]))

    def appended(self, index: int) -> Any:
        partition = (self.first, self.second)[index]
        return partition, SimpleNamespace(last_offset=4), self.answers[index]

    def append_second(self) -> None:
        self.safe.add([self.appended(1)])
        self.safe.release()

    def time_out(self) -> None:
        """Once: what is set meanwhile runs out later."""
        for callback in self.loop.timers[:]:
            self.loop.timers.remove(callback)
            callback()


def test_one_that_comes_after_the_others_time_is_waited_for_itself() -> None:
    stand = Stand()
    stand.time_out()
    stand.first.acknowledge()
    stand.append_second()
    assert stand.told == [], "its followers do not have it"
    stand.second.acknowledge()
    assert stand.told == [[ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NONE]]


def test_a_late_acknowledgement_is_not_that_of_another_partition() -> None:
    stand = Stand()
    stand.time_out()
    stand.append_second()
    stand.first.acknowledge()
    assert stand.told == []
    stand.second.acknowledge()
    assert stand.told == [[ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NONE]]


def test_one_that_comes_after_the_others_time_has_a_time_of_its_own() -> None:
    stand = Stand()
    stand.time_out()
    stand.append_second()
    stand.time_out()
    assert stand.told == [[ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REQUEST_TIMED_OUT]]


def test_who_leads_by_now_is_told_where_the_leadership_was_lost_meanwhile(tmp_path: Path) -> None:
    """As of what was refused at once (KIP-951): nobody has to ask."""
    partition = new_partition(tmp_path, flush_messages=2**63 - 1)
    partition.lead(image(leader=1, epoch=6), 1)
    cluster = ClusterImage()
    topic = TopicImage(partition.topic, partition.topic_id)
    cluster.topics.add(topic)
    endpoint = Endpoint("PLAINTEXT", "host-2", 9092)
    cluster.brokers[2] = BrokerImage(2, 200, bytes(16), (endpoint,), fenced=False)
    broker = SimpleNamespace(loop=Turns(), image=cluster)
    answer = PartitionProduceResponse(index=0)
    of_topic = TopicProduceResponse(name=partition.topic, partition_responses=[answer])
    result = partition.append(memoryview(batch(1)), 1000)
    safe = SafeAnswer(
        cast(Any, broker),
        ProduceRequest(acks=-1, timeout_ms=10),
        Call(ClientState("127.0.0.1:1"), 12),
        ProduceResponse(responses=[of_topic]),
        [(partition, result, answer)],
    )
    told: list[ProduceResponse] = []
    safe.later.listen(told.append)
    topic.partitions[0] = image(leader=2, epoch=7)
    partition.follow(topic.partitions[0])
    (response,) = told
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    leader = answer.current_leader
    assert leader is not None
    assert (leader.leader_id, leader.leader_epoch) == (2, 7)
    (node,) = response.node_endpoints
    assert (node.node_id, node.host, node.port) == (2, "host-2", 9092)
