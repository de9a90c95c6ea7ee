"""What may happen to a cluster, from a seed, and the run in which it happens to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from operator import gt
from random import Random
from typing import Any

from penstock.model.id import TopicPartition
from penstock.peer.error import PeerError
from penstock.testing.history import Event, Poll, Seen, check
from penstock.testing.simulation.cluster import CLIENT, SimulatedCluster
from penstock.testing.simulation.loop import THREAD_S
from penstock.testing.simulation.member import add_members, build_member
from penstock.testing.simulation.process import Process
from tests.simulation.cluster_checker import ClusterChecker, Violation
from tests.simulation.cluster_kit import ClusterClient
from tests.simulation.cluster_work import Committer, Creator, IdempotentWriter, Reader, Writer

NAMES = "abcdefg"
SIZES = (3, 3, 3, 3, 4, 5)
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
    def of(cls, seed: int, rounds: int = 4) -> Plan:
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
        self.happened: list[str] = []
        self.stopping: dict[str, Process] = {}

    def run(self) -> SimulatedCluster:
        try:
            with self.checker.watching(), self.cluster:
                self._begin()
                for _ in range(self.plan.rounds):
                    self.cluster.run_for(self.cluster.random.uniform(0.5, 4))
                    self._disturb()
                    self._mend()
                self._end()
        except BaseException as error:
            error.add_note(f"{self.plan}: {'; '.join(self.happened)}")
            raise
        return self.cluster

    # The work

    def _begin(self) -> None:
        cluster, names = self.cluster, self.plan.names
        add_members(cluster, names, SETTINGS | self.plan.settings)
        cluster.start(*names)
        client = self.client = ClusterClient(cluster, names)
        cluster.run(client.create("safe", len(SAFE), min_insync_replicas="2"))
        cluster.run(client.create("alone", len(ALONE), min_insync_replicas="1"))
        never = str(1 << 40)
        cluster.run(
            client.create("quick", len(QUICK), min_insync_replicas="2", flush_messages=never)
        )
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
            new(Writer, "hasty", EVERY, 1),
        ]
        self.creator = Creator(ClusterClient(cluster, names))
        self.committer = Committer(ClusterClient(cluster, names), "group", SAFE[0])
        readers = [
            Reader(ClusterClient(cluster, names), f"reader{number}", where, self.history)
            for number, where in enumerate([*strict, *([] if self.plan.power_fails else QUICK)])
        ]
        self.tasks = [
            cluster.spawn(self._guard(one.run()))
            for one in (*self.writers, self.creator, self.committer, *readers)
        ]

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:
            self.checker.found.append(f"{type(error).__name__}: {error}")

    def _on_acked(self, where: TopicPartition, offset: int, content: bytes) -> None:
        if where not in QUICK:
            self.checker.check_durable(where, offset, content, 1 if where in ALONE else 2)

    # The faults

    def _disturb(self) -> None:
        random = self.cluster.random
        for _ in range(random.choice((1, 1, 2, 3))):
            self._disturb_once(random)
            self.cluster.run_for(random.choice((random.uniform(0, 1), random.uniform(0, 15))))

    def _disturb_once(self, random: Random) -> None:
        cluster = self.cluster
        running = [name for name in self.plan.names if cluster.hosts[name].process.alive]
        if len(running) < 2:
            return
        name, other = random.sample(running, 2)
        faults: dict[str, Callable[[], object]] = {
            "kill": lambda: cluster.kill(name),
            "kill all": lambda: [cluster.kill(one) for one in running],
            "pause": lambda: cluster.pause(name),
            "cut": lambda: cluster.cut(name, other),
            "cut one way": lambda: cluster.cut_one_way(name, other),
            "cut off": lambda: cluster.cut_off(name),
            "split": lambda: self._split(running, random),
            "strike the next leader": lambda: self._strike_next(random),
            "cut from clients": lambda: cluster.cut(name, CLIENT),
            "slow": lambda: cluster.slow(name, other, random.uniform(0.01, 2)),
            "slow disk": lambda: self._slow_disk(name, random.uniform(0.01, 1)),
            "refuse": lambda: cluster.refuse(name),
            "stop": lambda: self._stop(name),
        }
        if self.plan.power_fails:
            faults |= {
                "crash": lambda: cluster.crash(name),
                "crash seen": lambda: cluster.crash(name, silent=False),
                "crash all": lambda: [cluster.crash(one, silent=False) for one in running],
                "crash soon": lambda: self._crash_soon(name, random.randrange(60)),
            }
        what = random.choice(self.plan.only or list(faults))
        self.happened.append(f"{cluster.now_s:.3f} {what} {name} {other}")
        faults[what]()

    def _split(self, running: list[str], random: Random) -> None:
        """Into two that hear each other no more; clients reach both."""
        some = random.sample(running, random.randrange(1, len(running)))
        for one in some:
            for other in running:
                if other not in some:
                    self.cluster.cut(one, other)

    def _strike_next(self, random: Random) -> None:
        """Whoever is elected next fails as soon as it leads."""
        strikes: list[Callable[[str], object]] = [
            self.cluster.kill,
            self.cluster.pause,
            self.cluster.cut_off,
        ]
        if self.plan.power_fails:
            strikes.append(self.cluster.crash)
        strike, after_s = random.choice(strikes), random.uniform(0, 0.02)

        def on_elected(node_id: int) -> None:
            self.checker.on_elected = lambda _: None
            name = self.plan.names[node_id - 1]
            host = self.cluster.hosts[name]
            process = host.process

            def act() -> None:
                if process.alive:
                    self.happened.append(f"{self.cluster.now_s:.3f} {name} struck")
                    strike(name)

            self.cluster.loop.call_later(after_s, act, context=Context())

        self.checker.on_elected = on_elected

    def _crash_soon(self, name: str, changes: int) -> None:
        self.cluster.hosts[name].changes_left = changes

    def _slow_disk(self, name: str, flush_s: float) -> None:
        self.cluster.hosts[name].flush_s = (flush_s / 2, flush_s)

    def _stop(self, name: str) -> None:
        """As a signal does; others go on meanwhile, and whoever does not end is killed later."""
        host = self.cluster.hosts[name]
        if host.is_up and host.process.held is None and name not in self.stopping:
            self.stopping[name] = host.process
            self.cluster.begin_stop(name)

    def _mend(self, *, wholly: bool = False) -> None:
        """Mostly everything, sometimes only what has to be."""
        cluster = self.cluster
        wholly = wholly or cluster.random.random() < 0.7
        self.happened.append(f"{cluster.now_s:.3f} mend{' all' if wholly else ''}")
        self.checker.on_elected = lambda _: None
        if wholly:
            cluster.heal()
        for name in self.plan.names:
            host = cluster.hosts[name]
            if not wholly and cluster.random.random() < 0.5:
                continue
            host.changes_left = None
            host.flush_s = THREAD_S
            if host.process.held is not None:
                cluster.resume(name)
            if self.stopping.pop(name, None) is host.process and host.process.alive:
                cluster.kill(name)
            if not host.process.alive:
                cluster.begin(name)

    # The end

    def _end(self) -> None:
        cluster = self.cluster
        self._mend(wholly=True)
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
        self.checker.check_topics(created)
        for index, (acked, sent) in enumerate(self.committer.groups):
            found = cluster.run(self.committer.fetch(index), PROGRESS_S_MAX)
            if not acked <= found <= sent:
                raise Violation(f"group {index} committed {acked} (or {sent}), has {found}")
        last = [TopicPartition(topic, 0) for topic in created]
        for where in last:
            cluster.run(self._write_once(where), PROGRESS_S_MAX)
        self.checker.check_settled([*EVERY, *GROUPS, *last])
        for where in EVERY:
            self.history.append(self._read_at_end(where))
        lax = {f"{topic}-{index}" for topic, index in QUICK if self.plan.power_fails}
        wrong = [one for one in check(self.history) if one.where not in lax]
        if wrong:
            raise Violation("; ".join(map(str, wrong[:5])))

    async def _write_once(self, where: TopicPartition) -> None:
        while True:
            with suppress(PeerError):
                await self.client.send(where, b"at the end")
                return
            await asyncio.sleep(0.2)

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
