"""What may happen to a cluster, from a seed: nodes, disks and links that fail, and are mended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context
from random import Random

from penstock.testing.simulation.cluster import CLIENT, SimulatedCluster
from penstock.testing.simulation.loop import THREAD_S
from penstock.testing.simulation.process import Process
from tests.simulation.cluster_checker import ClusterChecker


class Faults:
    """`only` names those that happen; any without it."""

    def __init__(
        self,
        cluster: SimulatedCluster,
        checker: ClusterChecker,
        names: Sequence[str],
        *,
        power_fails: bool,
        only: Sequence[str] = (),
    ) -> None:
        self.happened: list[str] = []
        self._cluster = cluster
        self._checker = checker
        self._names = names
        self._power_fails = power_fails
        self._only = only
        self._round = 0
        self._stopping: dict[str, Process] = {}

    def disturb(self) -> None:
        random = self._cluster.random
        for _ in range(random.choice((1, 1, 2, 3))):
            self._disturb_once(random)
            self._cluster.run_for(random.choice((random.uniform(0, 1), random.uniform(0, 15))))

    def _disturb_once(self, random: Random) -> None:
        cluster = self._cluster
        running = [name for name in self._names if cluster.hosts[name].process.alive]
        if len(running) < 2:
            return
        name, other = random.sample(running, 2)
        faults: dict[str, Callable[[], None]] = {
            "kill": lambda: cluster.kill(name),
            "kill all": lambda: _each(cluster.kill, running),
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
        if self._power_fails:
            faults |= {
                "crash": lambda: cluster.crash(name),
                "crash seen": lambda: self._crash_seen(name),
                "crash all": lambda: _each(self._crash_seen, running),
                "crash soon": lambda: self._crash_soon(name, random.randrange(60)),
            }
        what = random.choice(self._only or list(faults))
        self._note(f"{what} {name} {other}")
        if what in faults:
            faults[what]()

    def _note(self, what: str) -> None:
        self.happened.append(f"{self._cluster.now_s:.3f} {what}")

    # Each

    def _split(self, running: list[str], random: Random) -> None:
        """Into two that hear each other no more; clients reach both."""
        some = random.sample(running, random.randrange(1, len(running)))
        for one in some:
            for other in running:
                if other not in some:
                    self._cluster.cut(one, other)

    def _strike_next(self, random: Random) -> None:
        """Whoever is elected next fails as soon as it leads."""
        cluster, round_ = self._cluster, self._round
        strikes: list[Callable[[str], None]] = [cluster.kill, cluster.pause, cluster.cut_off]
        if self._power_fails:
            strikes.append(cluster.crash)
        strike, after_s = random.choice(strikes), random.uniform(0, 0.02)

        def on_elected(node_id: int) -> None:
            self._checker.on_elected = None
            name = self._names[node_id - 1]
            process = cluster.hosts[name].process

            def act() -> None:
                if process.alive and round_ == self._round:
                    self._note(f"{name} struck")
                    strike(name)

            cluster.loop.call_later(after_s, act, context=Context())

        self._checker.on_elected = on_elected

    def _crash_seen(self, name: str) -> None:
        self._cluster.crash(name, silent=False)

    def _crash_soon(self, name: str, changes: int) -> None:
        self._cluster.hosts[name].changes_left = changes

    def _slow_disk(self, name: str, flush_s: float) -> None:
        self._cluster.hosts[name].flush_s = (flush_s / 2, flush_s)

    def _stop(self, name: str) -> None:
        """As a signal does; others go on meanwhile, and whoever does not end is killed later."""
        host = self._cluster.hosts[name]
        if host.is_up and host.process.held is None and name not in self._stopping:
            self._stopping[name] = host.process
            self._cluster.begin_stop(name)

    # And back

    def mend(self, *, wholly: bool = False) -> None:
        """Mostly everything, sometimes only what has to be."""
        cluster = self._cluster
        wholly = wholly or cluster.random.random() < 0.7
        self._note("mend all" if wholly else "mend")
        self._round += 1
        self._checker.on_elected = None
        if wholly:
            cluster.heal()
        for name in self._names:
            if wholly or cluster.random.random() < 0.5:
                self._mend_host(name)

    def _mend_host(self, name: str) -> None:
        cluster, host = self._cluster, self._cluster.hosts[name]
        host.changes_left = None
        host.flush_s = THREAD_S
        if host.process.held is not None:
            cluster.resume(name)
        if self._stopping.pop(name, None) is host.process and host.process.alive:
            cluster.kill(name)
        if not host.process.alive:
            cluster.begin(name)


def _each(fault: Callable[[str], None], names: Sequence[str]) -> None:
    for name in names:
        fault(name)
