"""A broker that leads partitions of three replicas, asked by fetches alone; no network, no wait."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from penstock.handlers.api import fetch
from penstock.handlers.broker import Broker
from penstock.handlers.call import Call, ClientState
from penstock.handlers.fetch_session import FetchSession
from penstock.handlers.fetch_sessions import FetchSessions
from penstock.metadata.image import ClusterImage
from penstock.metadata.topic import TopicImage
from penstock.network.later import Later
from penstock.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from penstock.replication.context import ReplicaContext
from penstock.replication.isr_change import IsrChange
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.telemetry.metric import BrokerMetrics
from tests.unit.replication.replica_kit import LAG_MAX_MS, OWN_EPOCH, World, image
from tests.unit.storage.storage_kit import Bench, FixedClock, Settings, batch

TOPIC_ID = bytes(15) + b"\x07"
VERSION = 15
EPOCH = 5


class Turns:
    """A loop that goes on when it is told to."""

    def __init__(self) -> None:
        self._soon: list[Callable[[], None]] = []
        self.timers: list[Callable[[], None]] = []

    def call_soon(self, callback: Callable[[], None]) -> None:
        self._soon.append(callback)

    def call_later(self, _: float, callback: Callable[[], None]) -> SimpleNamespace:
        self.timers.append(callback)
        return SimpleNamespace(cancel=lambda: self.timers.remove(callback))

    def run(self) -> None:
        while self._soon:
            self._soon.pop(0)()

    def time_out(self) -> None:
        for callback in list(self.timers):
            callback()


class Waiting:
    """An answer that comes later."""

    def __init__(self, later: Later[FetchResponse]) -> None:
        self.response: FetchResponse | None = None
        later.listen(self._on_settled)

    def _on_settled(self, response: FetchResponse) -> None:
        self.response = response


class Desk:
    """Node 1 leads partitions 0 to `count` - 1, with followers 2 and 3."""

    def __init__(self, folder: Path, count: int = 3) -> None:
        self.clock = FixedClock()
        self.loop = Turns()
        self.world = World()
        self.asked_isr: list[tuple[int, IsrChange]] = []
        self.image = ClusterImage()
        self.image.brokers.update(self.world.brokers)  # type: ignore[arg-type]
        topic = TopicImage("t", TOPIC_ID)
        self.image.topics.add(topic)
        self.partitions: list[Partition] = []
        found = PartitionSet(self.image)
        for index in range(count):
            topic.partitions[index] = image(leader=1, epoch=EPOCH)
            partition = Partition("t", TOPIC_ID, index, self._context(folder / str(index)))
            partition.lead(topic.partitions[index], min_isr=1)
            found.add(partition)
            self.partitions.append(partition)
        self.sessions = FetchSessions(10)
        self.broker = SimpleNamespace(
            authorizer=None,
            clock=self.clock,
            config=SimpleNamespace(fetch_bytes_max=1 << 20, get=lambda key: None),
            fetch_sessions=self.sessions,
            image=self.image,
            loop=self.loop,
            metrics=BrokerMetrics(),
            node_id=1,
            partitions=found,
            throttle=SimpleNamespace(is_on=False),
        )

    def _context(self, folder: Path) -> ReplicaContext:
        folder.mkdir(parents=True)
        bench = Bench(str(folder), Settings(flush_messages=2**63 - 1))
        bench.clock = self.clock
        return ReplicaContext(
            node_id=1,
            clock=self.clock,
            open_log=lambda partition: bench.open(),
            flush=lambda log: log.flush(),
            broker=self.world.brokers.get,  # type: ignore[arg-type]
            broker_epoch=lambda: OWN_EPOCH,
            is_in_touch=lambda: True,
            lag_max_ms=lambda: LAG_MAX_MS,
            checkpoint=lambda: None,
            alter_isr=lambda partition, change: self.asked_isr.append((partition.index, change)),
        )

    def append(self, index: int, count: int = 1) -> None:
        records = memoryview(bytearray(batch(count)))
        self.partitions[index].append(records, self.clock.now_ms(), acks=1)

    def ask(self, request: FetchRequest, version: int = VERSION) -> FetchResponse | Waiting:
        call = Call(ClientState("127.0.0.1:1"), version)
        answer: Any = fetch.handle(cast(Broker, self.broker), request, call)
        return Waiting(answer) if isinstance(answer, Later) else answer


class Client:
    """One fetch session with the desk; a follower's where it has a broker id."""

    def __init__(self, desk: Desk, broker_id: int = -1) -> None:
        self.desk = desk
        self.broker_id = broker_id
        self.broker_epoch = 100 * broker_id
        self.offsets: dict[int, int] = dict.fromkeys(range(len(desk.partitions)), 0)
        self.session_id = 0
        self.epoch = 0
        self.wait_ms = 0
        self.min_bytes = 1
        self.max_bytes = 1 << 20
        self.last_epoch = -1

    @property
    def session(self) -> FetchSession:
        return self.desk.sessions._sessions[self.session_id]

    @property
    def stirred(self) -> list[int]:
        """What its next fetch would look at."""
        return [target.index for target in self.session.stirred]

    def fetch(self, *named: int, forget: tuple[int, ...] = ()) -> dict[int, PartitionData]:
        """Names these partitions with its present offsets, all of them the first time."""
        answer = self.ask(*named, forget=forget)
        assert isinstance(answer, FetchResponse)
        return self.take(answer)

    def wait(self, *named: int) -> Waiting:
        self.wait_ms = 500
        answer = self.ask(*named)
        self.wait_ms = 0
        assert isinstance(answer, Waiting)
        return answer

    def ask(self, *named: int, forget: tuple[int, ...] = ()) -> FetchResponse | Waiting:
        topic = FetchTopic(topic_id=TOPIC_ID)
        for index in named if self.epoch else self.offsets:
            one = FetchPartition(
                partition=index,
                fetch_offset=self.offsets[index],
                current_leader_epoch=EPOCH,
                last_fetched_epoch=self.last_epoch,
                partition_max_bytes=1 << 20,
                log_start_offset=0,
            )
            topic.partitions.append(one)
        forgotten = ForgottenTopic(topic_id=TOPIC_ID, partitions=list(forget))
        answer = self.desk.ask(
            FetchRequest(
                replica_state=ReplicaState(
                    replica_id=self.broker_id, replica_epoch=self.broker_epoch
                ),
                max_wait_ms=self.wait_ms,
                min_bytes=self.min_bytes,
                max_bytes=self.max_bytes,
                session_id=self.session_id,
                session_epoch=self.epoch,
                topics=[topic] if topic.partitions else [],
                forgotten_topics_data=[forgotten] if forget else [],
            )
        )
        self.epoch += 1
        return answer

    def take(self, response: FetchResponse) -> dict[int, PartitionData]:
        assert response.error_code == 0
        self.session_id = response.session_id
        return {
            one.partition_index: one for topic in response.responses for one in topic.partitions
        }

    def settle(self) -> None:
        """Until it rests everywhere: it has what there is, and was told so."""
        for _ in range(3):
            self.fetch()
