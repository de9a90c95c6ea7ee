"""Clusters of three as their users run them, in one shape for both systems.

Apache Kafka's nodes get the heap of its own start script. Penstock's are started by the installed
command: forked from a process that has everything loaded, they would show another memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.peer import KAFKA
from penstock.testing.cluster import Cluster
from penstock.testing.cluster_node import ClusterNode
from tools.apache_kafka import BROKER_HEAP
from tools.cluster_chaos.kafka_target import KafkaNode, KafkaTarget
from tools.penstock_broker import Penstock


class FullHeapKafkaNode(KafkaNode):
    heap = BROKER_HEAP


class KafkaCluster(KafkaTarget):
    node_class = FullHeapKafkaNode


class CommandNode(ClusterNode):
    """A node of `penstock start --config FILE`, or of another command in its place."""

    command: Sequence[str] | None = None

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._process: Penstock | None = None

    @property
    def pid(self) -> int:
        return self._started().pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    def launch(self) -> None:
        self.is_paused = False
        self._process = Penstock(
            self.data_dir,
            port=self.ports.clients,
            start_timeout=self.ready_s,
            command=self.command,
            config=self.config_file,
        )
        self._process.spawn()

    def wait_ready(self) -> None:
        self._started().wait_ready()

    def stop(self) -> int:
        if self.is_paused:
            self.resume()
        if self._process is not None:
            self._process.stop()
        return 0

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _started(self) -> Penstock:
        if self._process is None:
            raise RuntimeError(f"node {self.id} was never started")
        return self._process


class PenstockCluster(Cluster):
    node_class = CommandNode


def cluster_class(system: str) -> type[Cluster]:
    return KafkaCluster if system == KAFKA else PenstockCluster
