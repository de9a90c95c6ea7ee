"""A real cluster for a test: nodes as processes, killed, stopped, paused and cut off.

    with Cluster(tmp_path / "cluster", nodes=3) as cluster:
        cluster.create_topic("orders")
        cluster.kill(cluster.leader("orders", 0))

Nodes are named by their ids, from 1. Each is broker and controller in one process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from penstock.model.id import TopicPartition, id_to_str
from penstock.testing import cluster_view
from penstock.testing.broker import BrokerError
from penstock.testing.client_calls import ClientCalls
from penstock.testing.cluster_link import Links
from penstock.testing.cluster_node import ClusterNode, Ports
from penstock.testing.cluster_view import NodeSilentError, PartitionView
from penstock.testing.nursery import Nursery
from penstock.testing.port import HOST, free_port

_LOOK_S = 0.05
_ANSWER_S = 10.0
T = TypeVar("T")


class ClusterError(RuntimeError):
    pass


class Cluster(ClientCalls):
    """With `links`, nodes reach each other through a proxy, so that `cut` can come between them.
    `prepare` is called in every node's process before it starts, as in `nursery.Order`; `users` are
    what `penstock storage format --add-scram` is told."""

    node_class = ClusterNode

    def __init__(
        self,
        folder: Path,
        nodes: int = 3,
        settings: Mapping[str, object] | None = None,
        *,
        racks: Sequence[str] = (),
        links: bool = False,
        metrics: bool = False,
        log_level: str = "info",
        prepare: str | None = None,
        users: Sequence[str] = (),
        nursery: Nursery | None = None,
    ) -> None:
        numbers = range(1, nodes + 1)
        self.folder = folder
        self._users = users
        self._links = Links(self._process_of) if links else None
        own = {number: Ports(free_port(), free_port(), free_port()) for number in numbers}
        told = {number: self._told(number, ports) for number, ports in own.items()}
        voters = (f"{number}@{HOST}:{told[number].controllers}" for number in numbers)
        shared = _defaults(nodes) | {"controller.quorum.voters": ",".join(voters)}
        self.nodes = {
            number: self.node_class(
                number,
                folder,
                own[number],
                told[number],
                shared
                | ({"broker.rack": racks[number - 1]} if racks else {})
                | dict(settings or {}),
                log_level=log_level,
                serves_metrics=metrics,
                prepare=prepare,
                nursery=nursery,
            )
            for number in numbers
        }

    def _told(self, number: int, own: Ports) -> Ports:
        if self._links is None:
            return own
        return own._replace(
            brokers=self._links.add(number, own.brokers),
            controllers=self._links.add(number, own.controllers),
        )

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(node.bootstrap_servers for node in self.nodes.values())

    @property
    def running(self) -> list[int]:
        """Those with a process that is not paused."""
        return [each.id for each in self.nodes.values() if each.running and not each.is_paused]

    def __enter__(self) -> Cluster:
        self.start_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_all()

    # Their processes

    def start_all(self) -> None:
        """All at once; returns when every node is ready."""
        self.format()
        try:
            for number in self.nodes:
                self.launch(number)
            for node in self.nodes.values():
                node.wait_ready()
        except BaseException:
            self.kill_all()
            raise

    def format(self) -> None:
        """Nothing where it was done already."""
        self.folder.mkdir(parents=True, exist_ok=True)
        cluster_id = id_to_str(uuid4().bytes).replace("-", "_")
        for node in self.nodes.values():
            node.write_config()
            if not node.data_dir.exists():
                _format(node.config_file, cluster_id, self._users)

    def start(self, number: int) -> None:
        self.launch(number)
        self.nodes[number].wait_ready()

    def launch(self, number: int) -> None:
        """As `start`, without the wait."""
        if self._links is not None:
            self._links.open(number)
        self.nodes[number].launch()

    def stop(self, number: int) -> int:
        """Shut down cleanly, as SIGTERM does: its leaders move first. The exit code."""
        try:
            return self.nodes[number].stop()
        finally:
            self._close_links(number)

    def kill(self, number: int) -> None:
        """A real SIGKILL: nothing is flushed, closed or said."""
        self.nodes[number].kill()
        self._close_links(number)

    def pause(self, number: int) -> None:
        self.nodes[number].pause()

    def resume(self, number: int) -> None:
        self.nodes[number].resume()

    def restart(self, number: int) -> None:
        self.stop(number)
        self.start(number)

    def stop_all(self) -> None:
        """One after the other; the last of them have no quorum any more, and do not wait for it."""
        try:
            self.heal()
            for number in self.nodes:
                self.stop(number)
        finally:
            self.kill_all()

    def kill_all(self) -> None:
        for number in self.nodes:
            self.kill(number)
        if self._links is not None:
            self._links.close()

    # What lies between them

    def cut(self, one: int, other: int, *, both: bool = True, silent: bool = True) -> None:
        """Nothing comes through from one node to another. `silent`: connections stay, and what is
        sent waits for `heal`; otherwise they are reset, and so are new ones."""
        links = self._linked()
        links.cut(one, other, silent=silent)
        if both:
            links.cut(other, one, silent=silent)

    def isolate(self, number: int, *, both: bool = True, silent: bool = True) -> None:
        """Cut a node off from all others; clients still reach it."""
        for other in self.nodes:
            if other != number:
                self.cut(number, other, both=both, silent=silent)

    def mend(self, one: int, other: int) -> None:
        """Both directions between two nodes are whole again."""
        self._linked().mend(one, other)

    def heal(self) -> None:
        """All links are whole again, and whoever was paused goes on."""
        if self._links is not None:
            self._links.heal()
        for node in self.nodes.values():
            if node.is_paused:
                node.resume()

    def _linked(self) -> Links:
        if self._links is None:
            raise ClusterError("only a cluster made with links=True can be cut")
        return self._links

    def _close_links(self, number: int) -> None:
        """A port whose process has ended refuses; the proxy's must do so too."""
        if self._links is not None:
            self._links.shut(number)

    def _process_of(self, number: int) -> int | None:
        node = self.nodes[number]
        return node.pid if node.running else None

    # What they say

    def leader(self, topic: str, partition: int = 0, *, timeout_s: float = 20.0) -> int:
        """Waits until there is one."""
        where = TopicPartition(topic, partition)

        def look() -> int | None:
            seen = cluster_view.newest_partition(self._addresses(), where)
            return None if seen is None or seen.leader < 0 else seen.leader

        return self._wait(look, timeout_s, f"{topic}-{partition} has no leader")

    def controller(self, *, timeout_s: float = 20.0) -> int:
        """The active one."""

        def look() -> int | None:
            seen = cluster_view.newest_quorum(self._addresses())
            return None if seen is None or seen.leader < 0 else seen.leader

        return self._wait(look, timeout_s, "there is no active controller")

    def partitions(self, number: int | None = None) -> dict[TopicPartition, PartitionView]:
        """Of all topics, in the eyes of one node."""
        asked = self.nodes[self.running[0] if number is None else number]
        return cluster_view.partitions(asked.address, _ANSWER_S)

    def wait_in_sync(self, *, timeout_s: float = 60.0) -> None:
        """Until every running node sees all replicas of all partitions in sync."""
        missing: list[str] = []

        def look() -> bool | None:
            missing.clear()
            for number in self.running:
                try:
                    seen = self.partitions(number)
                except NodeSilentError as error:
                    missing.append(str(error))
                    continue
                missing.extend(
                    f"{where.topic}-{where.partition} {each} on node {number}"
                    for where, each in seen.items()
                    if not each.is_whole
                )
            return None if missing else True

        try:
            self._wait(look, timeout_s, "not all replicas are in sync")
        except ClusterError as error:
            raise ClusterError(f"{error}: {'; '.join(missing[:10])}") from None

    def _addresses(self) -> list[tuple[str, int]]:
        return [self.nodes[number].address for number in self.running]

    def _wait(self, look: Callable[[], T | None], timeout_s: float, complaint: str) -> T:
        deadline = time.monotonic() + timeout_s
        while (found := look()) is None:
            if time.monotonic() > deadline:
                raise ClusterError(f"{complaint} after {timeout_s:.0f} s")
            time.sleep(_LOOK_S)
        return found


def _defaults(nodes: int) -> dict[str, object]:
    replicas = min(nodes, 3)
    needed = 2 if replicas > 2 else 1
    return {
        "default.replication.factor": replicas,
        "min.insync.replicas": needed,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": needed,
    }


def _format(config_file: Path, cluster_id: str, users: Sequence[str]) -> None:
    from penstock.model.error import PenstockError
    from penstock.node.cluster_config import cluster_config
    from penstock.node.format.credential import parse_credentials
    from penstock.node.format.feature import feature_levels
    from penstock.node.format.formatter import Formatter, NewCluster
    from penstock.settings.config import BrokerConfig
    from penstock.storage.disk import RealDisk

    try:
        cluster = cluster_config(BrokerConfig.load(config_file))
        known = parse_credentials(users, lambda: uuid4().bytes)
        new = NewCluster(cluster_id, feature_levels({}, None, dynamic=False), users=known)
        formatter = Formatter(cluster, new, RealDisk(), _now_ms, lambda: uuid4().bytes)
        for _ in formatter.run(formatter.unformatted()):
            pass
    except PenstockError as error:
        raise BrokerError(str(error)) from error


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
