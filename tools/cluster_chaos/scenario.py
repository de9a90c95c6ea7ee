"""Courses of events in which one broken promise costs records; dice would take long to find them.

A cluster that keeps its promises passes all of them; so the same judges are shown to tell the two
apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from penstock.model.id import TopicPartition
from penstock.testing.cluster import Cluster, ClusterError
from penstock.testing.cluster_view import PartitionView
from tools.cluster_chaos import power
from tools.exactly_once.setup import PARTITIONS, SOURCE

Say = Callable[[str], None]
Scenario = Callable[[Cluster, Say], None]
_TURNS = 4


def leader_alone_then_gone(cluster: Cluster, say: Say) -> None:
    """The followers do not reach the leader and leave the in-sync set; then it dies. Of five."""
    where, view = _where(cluster, lambda view, head: head not in _followers(view))
    for follower in _followers(view):
        cluster.cut(view.leader, follower)
    say(f"{_name(where)}: node {view.leader} is cut off from its followers")
    _wait(lambda: cluster.partitions(view.leader)[where].in_sync == (view.leader,), 20)
    time.sleep(3)
    cluster.kill(view.leader)
    say(f"node {view.leader} killed")
    _wait(lambda: cluster.leader(*where) != view.leader, 30)
    time.sleep(2)
    cluster.start(view.leader)


def two_leaders_in_turn(cluster: Cluster, say: Say) -> None:
    """A follower that cannot reach the next leader leads after it. Of five; several times, since
    the follower may have heard just now how far all is committed."""
    for _ in range(_TURNS):
        _kill_two_leaders(cluster, say)


def _kill_two_leaders(cluster: Cluster, say: Say) -> None:
    where, view = _where(cluster, lambda view, head: head not in view.replicas)
    second, third = _followers(view)
    cluster.cut(second, third)
    cluster.kill(view.leader)
    say(f"{_name(where)}: node {view.leader} killed, {second} and {third} cut apart")
    _wait(lambda: cluster.leader(*where) in (second, third), 20)
    new = cluster.leader(*where)
    cluster.kill(new)
    say(f"node {new} killed")
    _wait(lambda: cluster.leader(*where) not in (view.leader, new), 30)
    time.sleep(0.5)
    cluster.heal()
    cluster.start(view.leader)
    cluster.start(new)
    cluster.wait_in_sync()


def coordinator_cut_off(cluster: Cluster, say: Say) -> None:
    """All coordinators of one node go on there while others take over."""
    seen = cluster.partitions()
    topics = ("__consumer_offsets", "__transaction_state")
    led = [view.leader for where, view in seen.items() if where.topic in topics]
    for number in sorted(set(led), key=led.count):
        cluster.isolate(number)
        say(f"node {number}, a coordinator, is cut off from all others")
        time.sleep(8)
        cluster.heal()
        time.sleep(4)


def power_failure(cluster: Cluster, say: Say) -> None:
    """Of all nodes at once; those that followed come back first."""
    where, view = _where(cluster, lambda view, head: True)
    time.sleep(3)
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
    time.sleep(4)
    cluster.start(view.leader)


def _followers(view: PartitionView) -> list[int]:
    return [each for each in view.replicas if each != view.leader]


def _where(
    cluster: Cluster, fits: Callable[[PartitionView, int], bool]
) -> tuple[TopicPartition, PartitionView]:
    """A partition that fits to where the active controller is; that moves if there is none."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        head = cluster.controller()
        seen = cluster.partitions()
        for index in range(PARTITIONS):
            where = TopicPartition(SOURCE, index)
            if seen[where].is_whole and fits(seen[where], head):
                return where, seen[where]
        cluster.restart(head)
        cluster.wait_in_sync()
    raise ClusterError("no partition fits")


def _wait(done: Callable[[], bool], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not done():
        if time.monotonic() > deadline:
            raise ClusterError(f"what was waited for did not come within {timeout_s:.0f} s")
        time.sleep(0.05)


def _name(where: TopicPartition) -> str:
    return f"{where.topic}-{where.partition}"


SCENARIOS: dict[str, Scenario] = {
    each.__name__: each
    for each in (leader_alone_then_gone, two_leaders_in_turn, coordinator_cut_off, power_failure)
}
