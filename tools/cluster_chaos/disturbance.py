"""What is done to the nodes: chosen by dice among what each may suffer, and undone in time."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.model.id import TopicPartition
from penstock.testing import cluster_view
from penstock.testing.broker import BrokerError
from penstock.testing.cluster import Cluster
from tools.cluster_chaos import power
from tools.exactly_once.setup import COPY, PARTITIONS, SOURCE

LEADER, FOLLOWER, CONTROLLER = "leader", "follower", "controller"
GROUPS, TRANSACTIONS = "coordinator of groups", "coordinator of transactions"
ROLES = (LEADER, LEADER, FOLLOWER, CONTROLLER, GROUPS, TRANSACTIONS)
EVERYBODY = "all nodes"
_COORDINATORS = {GROUPS: "__consumer_offsets", TRANSACTIONS: "__transaction_state"}


@dataclass(frozen=True, slots=True)
class Weather:
    """How often, for how long, and how many at once."""

    peace_s: tuple[float, float] = (0.5, 3.0)
    down_s: tuple[float, float] = (0.0, 8.0)
    pause_s: tuple[float, float] = (0.3, 8.0)
    cut_s: tuple[float, float] = (0.5, 12.0)
    at_once: int = 2
    everybody_share: float = 0.04
    kinds: tuple[str, ...] = ("kill", "kill", "stop", "pause", "cut", "cut", "isolate")


@dataclass(slots=True, eq=False)
class _Going:
    what: str
    until: float
    nodes: frozenset[int]
    undo: Callable[[], None]


@dataclass
class Disturbances:
    """`tend` starts nodes again that should run. Whoever ends by itself is noted in `deaths`."""

    cluster: Cluster
    dice: random.Random
    weather: Weather
    counts: Counter[str] = field(default_factory=Counter)
    deaths: list[str] = field(default_factory=list)
    power_fails: bool = False
    _going: list[_Going] = field(default_factory=list)
    _down: set[int] = field(default_factory=set)

    def tend(self) -> None:
        now = time.monotonic()
        for each in [one for one in self._going if one.until <= now]:
            self._going.remove(each)
            each.undo()
        for number, node in self.cluster.nodes.items():
            if number not in self._down and not node.running:
                self.deaths.append(f"node {number} ended by itself\n{node.log[-2000:]}")
                self.cluster.kill(number)
                self.cluster.launch(number)

    def begin(self) -> str | None:
        """Something new, unless enough is going on; what it was."""
        if len(self._going) >= self.weather.at_once:
            return None
        if self.dice.random() < self.weather.everybody_share and not self._going:
            return self._kill_everybody()
        role = self.dice.choice(ROLES)
        kind = self.dice.choice(self.weather.kinds)
        number = self._node_of(role)
        if number is None or any(number in each.nodes for each in self._going):
            return None
        action = {"kill": self._kill, "stop": self._stop, "pause": self._pause}
        if kind == "cut":
            what = self._cut(number)
        elif kind == "isolate":
            what = self._isolate(number)
        else:
            what = action[kind](number)
        self.counts[f"{role} {what}"] += 1
        return f"{role}, node {number}, {what}"

    def end_all(self) -> None:
        for each in self._going:
            each.undo()
        self._going.clear()
        self.cluster.heal()

    # Who

    def _node_of(self, role: str) -> int | None:
        running = self.cluster.running
        if not running:
            return None
        asked = self.cluster.nodes[self.dice.choice(running)].address
        try:
            if role == CONTROLLER:
                leader = cluster_view.quorum(asked, 1.0).leader
                return leader if leader > 0 else None
            seen = cluster_view.partitions(asked, 1.0)
        except cluster_view.NodeSilentError:
            return None
        if role in _COORDINATORS:
            topics = [_COORDINATORS[role]]
        else:
            topics = [SOURCE, COPY]
        where = TopicPartition(self.dice.choice(topics), self.dice.randrange(PARTITIONS))
        view = seen.get(where)
        if view is None:
            return None
        if role == FOLLOWER:
            followers = [each for each in view.replicas if each != view.leader]
            return self.dice.choice(followers) if followers else None
        return view.leader if view.leader > 0 else None

    # What

    def _go(
        self, what: str, span: tuple[float, float], nodes: set[int], undo: Callable[[], None]
    ) -> str:
        seconds = self.dice.uniform(*span)
        self._going.append(_Going(what, time.monotonic() + seconds, frozenset(nodes), undo))
        return what

    def _kill(self, number: int) -> str:
        self._down.add(number)
        self.cluster.kill(number)
        return self._go("killed", self.weather.down_s, {number}, lambda: self._start(number))

    def _stop(self, number: int) -> str:
        self._down.add(number)
        try:
            self.cluster.stop(number)
        except BrokerError as error:
            self.deaths.append(f"node {number} did not stop: {error}")
        return self._go("stopped", self.weather.down_s, {number}, lambda: self._start(number))

    def _pause(self, number: int) -> str:
        node = self.cluster.nodes[number]
        node.pause()
        return self._go("paused", self.weather.pause_s, {number}, node.resume)

    def _start(self, number: int) -> None:
        self._down.discard(number)
        self.cluster.launch(number)

    def _kill_everybody(self) -> str:
        numbers = list(self.cluster.nodes)
        self._down.update(numbers)
        for number in numbers:
            # Nobody outlives the others by the time that killing takes.
            self.cluster.pause(number)
        for number in numbers:
            self.cluster.kill(number)
            if self.power_fails:
                power.fail(self.cluster.nodes[number].data_dir)
        self.dice.shuffle(numbers)
        for number in numbers:
            self._start(number)
        what = f"{EVERYBODY}, {'power failure' if self.power_fails else 'killed'}"
        self.counts[what] += 1
        return what

    def _manner(self) -> tuple[bool, bool, str]:
        both, silent = self.dice.random() < 0.6, self.dice.random() < 0.7
        ways = "both ways" if both else "one way"
        return both, silent, f"{ways}, {'in silence' if silent else 'with resets'}"

    def _cut(self, number: int) -> str:
        other = self.dice.choice([each for each in self.cluster.nodes if each != number])
        both, silent, manner = self._manner()
        self.cluster.cut(number, other, both=both, silent=silent)
        return self._go(
            f"cut from one other {manner}",
            self.weather.cut_s,
            {number},
            lambda: self.cluster.mend(number, other),
        )

    def _isolate(self, number: int) -> str:
        both, silent, manner = self._manner()
        self.cluster.isolate(number, both=both, silent=silent)

        def undo() -> None:
            for other in self.cluster.nodes:
                self.cluster.mend(number, other)

        return self._go(f"cut from all others {manner}", self.weather.cut_s, {number}, undo)
