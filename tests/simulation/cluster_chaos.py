"""A run of a cluster from a seed: clients at work, faults of every kind, and what must hold."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from operator import gt
from random import Random
from typing import Any

from penstock.model.id import TopicPartition
from penstock.testing.history import Event, Poll, Seen, check
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_checker import ClusterChecker, Violation
from tests.simulation.cluster_faults import Faults
from tests.simulation.cluster_kit import ClusterClient
from tests.simulation.cluster_row import RowWriter
from tests.simulation.cluster_work import (
    Committer,
    Creator,
    IdempotentWriter,
    Reader,
    Worker,
    Writer,
)

NAMES = "abcdefg"
SIZES = (3, 3, 3, 3, 3, 4, 4, 5, 5, 7)
UP_S_MAX = 120.0
IN_SYNC_S_MAX = 120.0
PROGRESS_S_MAX = 60.0

SAFE = [TopicPartition("safe", 0), TopicPartition("safe", 1)]
"""min.insync.replicas=2, and everything on disk before it counts."""
ALONE = [TopicPartition("alone", 0)]
"""The same with min.insync.replicas=1."""
QUICK = [TopicPartition("quick", 0)]
"""min.insync.replicas=2 without flushes: safe unless machines lose their power."""
EVERY = [*SAFE, *ALONE, *QUICK]
GROUPS = [TopicPartition("__consumer_offsets", 0), TopicPartition("__consumer_offsets", 1)]

SETTINGS = {
    "offsets.topic.num.partitions": len(GROUPS),
    "replica.fetch.wait.max.ms": 500,
    "broker.heartbeat.interval.ms": 1000,
}


@dataclass(frozen=True)
class Plan:
    """What the seed decides before anything begins."""

    seed: int
    nodes: int
    power_fails: bool
    rounds: int
    settings: dict[str, object] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    """The faults that happen; any without it."""

    @classmethod
    def of(cls, seed: int, rounds: int = 3) -> Plan:
        random = Random(f"{seed} plan")
        settings: dict[str, object] = {}
        settings["replica.lag.time.max.ms"] = random.choice((2000, 6000, 30000))
        settings["broker.session.timeout.ms"] = random.choice((3000, 5000, 9000))
        if random.random() < 0.3:
            # Nodes that come back find nothing but a snapshot.
            settings["metadata.log.max.record.bytes.between.snapshots"] = 3000
        return cls(seed, random.choice(SIZES), random.random() < 0.75, rounds, settings)

    @property
    def names(self) -> str:
        return NAMES[: self.nodes]

    def __str__(self) -> str:
        more = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"seed {self.seed}, {self.nodes} nodes, {more}"


class Run:
    def __init__(self, plan: Plan, *, whole_trace: bool = False) -> None:
        self.plan = plan
        self.cluster = SimulatedCluster(plan.seed, build=build_member, whole_trace=whole_trace)
        self.checker = ClusterChecker(self.cluster)
        self.history: list[Event] = []
        self.faults = Faults(
            self.cluster,
            self.checker,
            plan.names,
            power_fails=plan.power_fails,
            only=plan.only,
        )

    def run(self) -> SimulatedCluster:
        try:
            with self.checker.watching(), self.cluster:
                self._begin()
                for _ in range(self.plan.rounds):
                    self.cluster.run_for(self.cluster.random.uniform(0.5, 4))
                    self.faults.disturb()
                    self.faults.mend()
                self._end()
        except BaseException as error:
            error.add_note(f"{self.plan}: {'; '.join(self.faults.happened)}")
            raise
        return self.cluster

    # The work

    def _begin(self) -> None:
        cluster, names = self.cluster, self.plan.names
        add_members(cluster, names, SETTINGS | self.plan.settings)
        cluster.start(*names)
        client = self.client = ClusterClient(cluster, names)
        cluster.run(client.create("safe", len(SAFE), min_insync_replicas="2", segment_ms="3000"))
        cluster.run(client.create("alone", len(ALONE), min_insync_replicas="1"))
        never = str(1 << 40)
        # Small segments: logs are cut across several of them.
        quick = {"min_insync_replicas": "2", "flush_messages": never, "segment_ms": "4000"}
        cluster.run(client.create("quick", len(QUICK), **quick))
        cluster.run(client.wait_in_sync(EVERY))

        def new(
            kind: type[Writer], name: str, where: list[TopicPartition], acks: int = -1
        ) -> Writer:
            own = ClusterClient(cluster, names)
            return kind(own, name, where, self.history, self._on_acked, acks)

        strict = [*SAFE, *ALONE]
        self.writers = [
            new(Writer, "plain", EVERY),
            new(IdempotentWriter, "once", strict),
            new(IdempotentWriter, "safe", SAFE),
            new(RowWriter, "row", strict),
            new(Writer, "hasty", EVERY, 1),
        ]
        self.creator = Creator(ClusterClient(cluster, names))
        self.committer = Committer(ClusterClient(cluster, names), "group", SAFE[0])
        readers = [
            Reader(ClusterClient(cluster, names), f"reader{number}", where, self.history)
            for number, where in enumerate([*strict, *([] if self.plan.power_fails else QUICK)])
        ]
        workers: list[Worker] = [*self.writers, self.creator, self.committer, *readers]
        self.tasks = [cluster.spawn(self._guard(one.run())) for one in workers]

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:
            self.checker.found.append(f"{type(error).__name__}: {error}")

    def _on_acked(self, where: TopicPartition, offset: int, content: bytes) -> None:
        if where not in QUICK:
            self.checker.check_durable(where, offset, content, 1 if where in ALONE else 2)

    # The end

    def _end(self) -> None:
        cluster = self.cluster
        self.faults.mend(wholly=True)
        cluster.run_until(lambda: all(host.is_up for host in cluster.hosts.values()), UP_S_MAX)
        cluster.run(self.client.wait_in_sync(EVERY), IN_SYNC_S_MAX)
        before = [writer.acked for writer in self.writers]
        self._wait(lambda: all(map(gt, (one.acked for one in self.writers), before)))
        for writer in self.writers:
            writer.is_ending = True
        self._wait(lambda: all(task.done() for task in self.tasks[: len(self.writers)]))
        for task in self.tasks:
            task.cancel()
        self._check()

    def _wait(self, condition: Callable[[], bool]) -> None:
        self.cluster.run_until(condition, PROGRESS_S_MAX)

    def _check(self) -> None:
        cluster, created = self.cluster, self.creator.created
        for index, (acked, sent) in enumerate(self.committer.groups):
            found = cluster.run(self.committer.fetch(index), PROGRESS_S_MAX)
            if not acked <= found <= sent:
                raise Violation(f"group {index} committed {acked} (or {sent}), has {found}")
        last = [TopicPartition(topic, 0) for topic in created]
        for where in last:
            cluster.run(self.client.send_until_taken(where, b"at the end"), PROGRESS_S_MAX)
        self.checker.check_settled([*EVERY, *GROUPS, *last])
        self.checker.check_topics(created)
        for where in EVERY:
            self.history.append(self._read_at_end(where))
        lax = {f"{topic}-{index}" for topic, index in QUICK if self.plan.power_fails}
        wrong = [one for one in check(self.history) if one.where not in lax]
        if wrong:
            raise Violation("; ".join(map(str, wrong[:5])))

    def _read_at_end(self, where: TopicPartition) -> Poll:
        records = self.cluster.run(self.client.read_all(where))
        return Poll(
            process="end",
            began_s=self.cluster.now_s,
            ended_s=self.cluster.now_s,
            partition=where,
            records=tuple(Seen(one.offset, (one.value or b"").decode()) for one in records),
            at_end=True,
        )
