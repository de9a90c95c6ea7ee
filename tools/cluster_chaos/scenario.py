"""Courses of events in which one broken promise costs records; dice would take long to find them.

A cluster that keeps its promises passes all of them; so the same judges are shown to tell the two
apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from penstock.model.id import TopicPartition
from penstock.testing.cluster import Cluster, ClusterError
from penstock.testing.cluster_view import NodeSilentError, PartitionView
from tools.cluster_chaos import power
from tools.exactly_once.feeder import Feeder
from tools.exactly_once.setup import PARTITIONS, SOURCE

Say = Callable[[str], None]
_PATIENCE_S = 120.0
"""For what comes in any case, on a busy machine later."""
_RECORDS = 20
_TRIED_AGAIN_S = 3.0
"""A follower that does not reach its leader tries every second, also on a busy machine."""


@dataclass(frozen=True, slots=True)
class Stage:
    cluster: Cluster
    say: Say
    feeder: Feeder

    def wait_more(self, where: TopicPartition, timeout_s: float) -> bool:
        """Whether some more records are acknowledged in time. A producer that gave up, which will
        be judged, is not waited for."""
        counts = self.feeder.acknowledged
        wanted = counts[where.partition] + _RECORDS
        deadline = time.monotonic() + timeout_s
        while counts[where.partition] < wanted and self.feeder.failure is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def wait_flow(self, where: TopicPartition) -> None:
        if not self.wait_more(where, _PATIENCE_S):
            raise ClusterError(f"nothing of {_name(where)} was acknowledged any more")


Scenario = Callable[[Stage], None]


def leader_alone_then_gone(stage: Stage) -> None:
    """The followers do not reach the leader and leave the in-sync set; then it dies. Of five."""
    cluster, say = stage.cluster, stage.say
    where, view = _where(cluster, lambda view, head: head not in _followers(view))
    for follower in _followers(view):
        cluster.cut(view.leader, follower)
    say(f"{_name(where)}: node {view.leader} is cut off from its followers")
    _wait(lambda: cluster.partitions(view.leader)[where].in_sync == (view.leader,))
    # A leader that keeps its promises acknowledges nothing now.
    stage.wait_more(where, 5)
    cluster.kill(view.leader)
    say(f"node {view.leader} killed")
    _wait(lambda: _leader(cluster, where) != view.leader)
    stage.wait_flow(where)
    cluster.start(view.leader)


def two_leaders_in_turn(stage: Stage) -> None:
    """A follower that cannot reach the next leader leads after it. Of five."""
    cluster, say = stage.cluster, stage.say
    where, view = _where(cluster, lambda view, head: head not in view.replicas)
    second, third = _followers(view)
    stage.wait_flow(where)
    # With resets: in silence a fetch that is under way would be waited for, and not one begun.
    cluster.cut(second, third, silent=False)
    cluster.kill(view.leader)
    say(f"{_name(where)}: node {view.leader} killed, {second} and {third} cut apart")
    _wait(lambda: _leader(cluster, where) in (second, third))
    new = _leader(cluster, where)
    last = third if new == second else second
    # It is to follow the new leader before it leads itself, in vain as that may be.
    _wait(lambda: cluster.partitions(last)[where].leader == new)
    time.sleep(_TRIED_AGAIN_S)
    cluster.kill(new)
    say(f"node {new} killed")
    _wait(lambda: _leader(cluster, where) == last)
    cluster.heal()
    cluster.start(view.leader)
    cluster.start(new)
    cluster.wait_in_sync(timeout_s=_PATIENCE_S)


def coordinator_cut_off(stage: Stage) -> None:
    """All coordinators of one node go on there while others take over."""
    cluster, say = stage.cluster, stage.say
    seen = cluster.partitions()
    topics = ("__consumer_offsets", "__transaction_state")
    led = [view.leader for where, view in seen.items() if where.topic in topics]
    for number in sorted(set(led), key=led.count):
        mine = [where for where in cluster.partitions() if where.topic in topics]
        mine = [where for where in mine if _leader(cluster, where) == number]
        cluster.isolate(number)
        say(f"node {number}, a coordinator, is cut off from all others")
        _wait_given_up(cluster, number, mine)
        # Clients go on with those that they know.
        time.sleep(4)
        cluster.heal()
        cluster.wait_in_sync(timeout_s=_PATIENCE_S)
        time.sleep(2)


def power_failure(stage: Stage) -> None:
    """Of all nodes at once; those that followed come back first."""
    cluster, say = stage.cluster, stage.say
    where, view = _where(cluster, lambda view, head: True)
    stage.wait_flow(where)
    numbers = list(cluster.nodes)
    for number in numbers:
        cluster.nodes[number].pause()
    for number in numbers:
        cluster.kill(number)
    lost = sum(power.fail(node.data_dir) for node in cluster.nodes.values())
    say(f"{_name(where)}: power failure of all nodes, {lost} bytes were not synced")
    others = [number for number in numbers if number != view.leader]
    for number in others:
        cluster.launch(number)
    for number in others:
        cluster.nodes[number].wait_ready()
    _wait(lambda: _leader(cluster, where) != view.leader)
    stage.wait_flow(where)
    cluster.start(view.leader)


def a_little_of_everything(stage: Stage) -> None:
    """One after the other, each until records flow again: a leader killed, a coordinator stopped
    and started, the controller cut off until there is another, and the power gone. Of three."""
    cluster, say = stage.cluster, stage.say
    where = TopicPartition(SOURCE, 0)
    leader = _leader(cluster, where)
    cluster.kill(leader)
    say(f"node {leader}, a leader, killed")
    stage.wait_flow(where)
    cluster.start(leader)
    cluster.wait_in_sync(timeout_s=_PATIENCE_S)

    coordinator = _leader(cluster, TopicPartition("__consumer_offsets", 0))
    say(f"node {coordinator}, a coordinator, is stopped and started")
    cluster.restart(coordinator)
    stage.wait_flow(where)
    cluster.wait_in_sync(timeout_s=_PATIENCE_S)

    controller = cluster.controller(timeout_s=_PATIENCE_S)
    cluster.isolate(controller)
    say(f"node {controller}, the controller, is cut off from all others")
    _wait(lambda: cluster.controller(timeout_s=_PATIENCE_S) != controller)
    stage.wait_flow(where)
    cluster.heal()
    cluster.wait_in_sync(timeout_s=_PATIENCE_S)

    power_failure(stage)


def _wait_given_up(cluster: Cluster, number: int, led: list[TopicPartition]) -> None:
    _wait(lambda: all(_leader(cluster, where) != number for where in led))


def _leader(cluster: Cluster, where: TopicPartition) -> int:
    return cluster.leader(*where, timeout_s=_PATIENCE_S)


def _followers(view: PartitionView) -> list[int]:
    return [each for each in view.replicas if each != view.leader]


def _where(
    cluster: Cluster, fits: Callable[[PartitionView, int], bool]
) -> tuple[TopicPartition, PartitionView]:
    """A partition that fits to where the active controller is; that moves if there is none."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        head = cluster.controller(timeout_s=_PATIENCE_S)
        seen = cluster.partitions()
        for index in range(PARTITIONS):
            where = TopicPartition(SOURCE, index)
            if seen[where].is_whole and fits(seen[where], head):
                return where, seen[where]
        cluster.restart(head)
        cluster.wait_in_sync(timeout_s=_PATIENCE_S)
    raise ClusterError("no partition fits")


def _wait(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not _is_so(done):
        if time.monotonic() > deadline:
            raise ClusterError(f"what was waited for did not come within {_PATIENCE_S:.0f} s")
        time.sleep(0.05)


def _is_so(done: Callable[[], bool]) -> bool:
    try:
        return done()
    except NodeSilentError:
        return False


def _name(where: TopicPartition) -> str:
    return f"{where.topic}-{where.partition}"


SCENARIOS: dict[str, Scenario] = {
    each.__name__: each
    for each in (
        a_little_of_everything,
        leader_alone_then_gone,
        two_leaders_in_turn,
        coordinator_cut_off,
        power_failure,
    )
}
