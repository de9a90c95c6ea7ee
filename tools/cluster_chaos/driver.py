"""Runs writers, copiers, groups and readers on a cluster under fire, and collects the verdicts."""

from __future__ import annotations

import random
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import IsolationLevel, KafkaException

from penstock.testing.broker import BrokerError
from penstock.testing.cluster import Cluster, ClusterError
from penstock.testing.cluster_view import NodeSilentError
from penstock.testing.history import Event, load
from tools.cluster_chaos import replicas
from tools.cluster_chaos.disturbance import Disturbances, Weather
from tools.cluster_chaos.member import Member
from tools.cluster_chaos.outcome import Result
from tools.cluster_chaos.scenario import Scenario, Stage
from tools.cluster_chaos.setup import NODE_SETTINGS, PARTITIONS, REPLICAS, TOPIC_SETTINGS
from tools.cluster_chaos.watcher import Watcher
from tools.exactly_once.feeder import Feeder
from tools.exactly_once.fleet import Fleet
from tools.exactly_once.reading import end_offsets, lag
from tools.exactly_once.setup import COPY, SOURCE
from tools.exactly_once.verdict import Say, drain, judge

_SESSION_S = int(NODE_SETTINGS["broker.session.timeout.ms"]) / 1000 + 1.0
_TROUBLE = (BrokerError, ClusterError, NodeSilentError)
_HANG_S = 40.0
_ROUND_S = 30
"""As long as the longest time without a majority. A copier whose client hangs, as librdkafka's does
at times when all brokers were down (#5511), ends after it."""


@dataclass(frozen=True)
class Plan:
    seed: int
    seconds: float = 60.0
    rate: int = 100
    copiers: int = 2
    members: int = 2
    copier_share: float = 0.15
    """Of all disturbances, those that meet a copier instead of a node."""
    weather: Weather = field(default_factory=Weather)
    settle_s: float = 180.0
    scenario: Scenario | None = None
    """What happens, in place of what the dice say."""
    power_fails: bool = False
    """Where all nodes are killed at once, they lose what was not synced."""


@dataclass
class Crowd:
    """All clients of a run."""

    feeder: Feeder
    fleet: Fleet
    members: list[Member]
    watchers: list[Watcher]

    @property
    def readers(self) -> list[Member | Watcher]:
        return [*self.members, *self.watchers]

    def start(self) -> None:
        self.feeder.start()
        for each in self.readers:
            each.start()

    def abandon(self) -> None:
        self.feeder.stopping.set()
        for each in self.readers:
            each.stopping.set()
        self.fleet.kill_all()

    def others(self) -> list[Event]:
        """What all but the feeder did and saw."""
        noted = [event for each in self.readers for event in each.events]
        return [*load(self.fleet.histories), *noted]


def run(target: str, cluster: Cluster, scratch: Path, plan: Plan, say: Say = print) -> Result:
    result = Result(target=target, seed=plan.seed, nodes=len(cluster.nodes))
    began = time.monotonic()
    crowd = None
    try:
        cluster.start_all()
        for topic in (SOURCE, COPY):
            cluster.create_topic(
                topic, PARTITIONS, TOPIC_SETTINGS, replication_factor=REPLICAS, timeout_s=60
            )
        crowd = _crowd(cluster.bootstrap_servers, scratch, plan)
        crowd.start()
        _wait_flowing(crowd, plan.settle_s)
        if plan.scenario is None:
            _disturb(cluster, crowd, plan, result, say)
        else:
            _play(plan.scenario, cluster, crowd, result, say)
        _heal(cluster, crowd, plan, result, say)
        _settle(cluster, crowd, plan, result, say)
        _judge(cluster, crowd, result, say)
    except (*_TROUBLE, KafkaException) as error:
        result.violations.append(f"stuck: {error}")
    except Exception as error:
        # Of this program: the rounds that follow are to be run all the same.
        say(traceback.format_exc())
        result.violations.append(f"driver: {error!r}")
    finally:
        if crowd is not None:
            crowd.abandon()
        cluster.kill_all()
    result.seconds = time.monotonic() - began
    say(result.summary())
    return result


def _crowd(bootstrap: str, scratch: Path, plan: Plan) -> Crowd:
    return Crowd(
        Feeder(bootstrap, plan.rate),
        Fleet(bootstrap, scratch, plan.copiers, 0.05, None, _ROUND_S),
        [Member(bootstrap, SOURCE, number) for number in range(1, plan.members + 1)],
        [
            Watcher(bootstrap, SOURCE, committed_only=False),
            Watcher(bootstrap, COPY, committed_only=False),
            Watcher(bootstrap, COPY, committed_only=True),
        ],
    )


def _wait_flowing(crowd: Crowd, timeout_s: float) -> None:
    """Until copies are seen: what happens before that meets nobody."""
    deadline = time.monotonic() + timeout_s
    while not all(each.count for each in crowd.watchers):
        if time.monotonic() > deadline:
            raise ClusterError("nothing was copied in a cluster at peace")
        crowd.fleet.tend()
        time.sleep(0.05)


def _play(scenario: Scenario, cluster: Cluster, crowd: Crowd, result: Result, say: Say) -> None:
    over = threading.Event()

    def tend() -> None:
        while not over.wait(0.1):
            crowd.fleet.tend()

    tending = threading.Thread(target=tend, daemon=True)
    tending.start()
    try:
        scenario(Stage(cluster, say, crowd.feeder))
    except _TROUBLE as error:
        result.violations.append(f"stuck: {error}")
    finally:
        over.set()
        tending.join()
        cluster.heal()


def _disturb(cluster: Cluster, crowd: Crowd, plan: Plan, result: Result, say: Say) -> None:
    dice = random.Random(plan.seed)
    disturbances = Disturbances(
        cluster, dice, plan.weather, result.disturbances, power_fails=plan.power_fails
    )
    until = time.monotonic() + plan.seconds
    while time.monotonic() < until and crowd.feeder.failure is None:
        next_at = min(until, time.monotonic() + dice.uniform(*plan.weather.peace_s))
        while time.monotonic() < next_at:
            crowd.fleet.tend()
            disturbances.tend()
            time.sleep(0.05)
        if dice.random() < plan.copier_share:
            crowd.fleet.kill(dice.choice(crowd.fleet.slots))
            result.disturbances["copier killed"] += 1
            continue
        what = disturbances.begin()
        if what is not None:
            left = until - time.monotonic()
            say(f"{left:5.0f} s left, {crowd.watchers[-1].count} copied: {what}")
    disturbances.end_all()
    result.violations += [f"died: {death}" for death in disturbances.deaths]


def _heal(cluster: Cluster, crowd: Crowd, plan: Plan, result: Result, say: Say) -> None:
    """Returns when the cluster is whole again."""
    say("peace: all nodes run and reach each other")
    began = time.monotonic()
    for number, node in cluster.nodes.items():
        if not node.running:
            cluster.launch(number)
    for node in cluster.nodes.values():
        node.wait_ready()
    _wait_whole(cluster, crowd, began + plan.settle_s)
    result.healed_s = time.monotonic() - began
    # A node that stood still may not know yet that it was given up: its session ends first.
    time.sleep(_SESSION_S)
    _wait_whole(cluster, crowd, time.monotonic() + plan.settle_s)
    say(f"all replicas in sync after {result.healed_s:.1f} s")


def _wait_whole(cluster: Cluster, crowd: Crowd, deadline: float) -> None:
    while True:
        crowd.fleet.tend()
        try:
            cluster.wait_in_sync(timeout_s=2.0)
            return
        except ClusterError:
            if time.monotonic() > deadline:
                raise


def _settle(cluster: Cluster, crowd: Crowd, plan: Plan, result: Result, say: Say) -> None:
    """Whatever was acknowledged must now be copied to the last record."""
    say("the producer ends, the copiers catch up")
    drain(crowd.feeder, result, plan.settle_s)
    bootstrap = cluster.bootstrap_servers
    behind = _wait_copied(bootstrap, crowd.fleet, plan.settle_s, say)
    if behind:
        result.violations.append(f"stuck: the copiers are {behind} records behind")
    stubborn = crowd.fleet.end(_ROUND_S + 60)
    if stubborn:
        result.violations.append(f"stuck: {stubborn} copiers did not end")
    result.endings = crowd.fleet.endings
    _wait_read(crowd, bootstrap, result, plan.settle_s)
    for each in crowd.readers:
        each.stopping.set()
    for each in crowd.readers:
        each.join(120)
        if each.is_alive():
            result.violations.append(f"stuck: {each.name} did not end")
        result.violations += [f"reset: {one}" for one in each.resets]


def _wait_copied(bootstrap: str, fleet: Fleet, timeout_s: float, say: Say) -> int | str:
    """How far the copiers are behind in the end. Clients hang at times when their leaders died one
    after the other: whoever begins anew has to get on."""
    deadline = time.monotonic() + timeout_s
    behind = _lag(bootstrap)
    since = time.monotonic()
    while (behind or not fleet.is_awake) and time.monotonic() < deadline:
        fleet.tend()
        time.sleep(0.2)
        before, behind = behind, _lag(bootstrap)
        if behind != before:
            since = time.monotonic()
        elif time.monotonic() - since > _HANG_S:
            say(f"the copiers do not get on, {behind} records behind: others take their place")
            fleet.replace_all()
            since = time.monotonic()
    return behind


def _lag(bootstrap: str) -> int | str:
    """Or why it could not be told just now."""
    try:
        return lag(bootstrap)
    except KafkaException as error:
        return f"({error}) or more"


def _wait_read(crowd: Crowd, bootstrap: str, result: Result, timeout_s: float) -> None:
    """Those who followed all along must come to the end as well."""
    ends = end_offsets(bootstrap, SOURCE, IsolationLevel.READ_UNCOMMITTED)
    wanted = sum(ends.values())
    deadline = time.monotonic() + timeout_s
    follower = crowd.watchers[0]
    while follower.count < wanted and not follower.resets and time.monotonic() < deadline:
        time.sleep(0.1)
    if follower.count < wanted and not follower.resets:
        result.violations.append(f"stuck: {follower.name} got {follower.count} of {wanted}")


def _judge(cluster: Cluster, crowd: Crowd, result: Result, say: Say) -> None:
    if not judge(cluster.bootstrap_servers, crowd.feeder, crowd.others(), result, say):
        return
    directories = {number: node.data_dir for number, node in cluster.nodes.items()}
    seen = cluster.partitions()
    result.violations += [f"replicas: {one}" for one in replicas.differences(directories, seen)]
    result.compared = len(seen)
    result.commits = sum(each.commits for each in crowd.members)
