"""Apache Kafka's nodes in the shape of `penstock.testing.cluster.Cluster`, to be treated alike."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.testing.cluster import Cluster
from penstock.testing.cluster_node import ClusterNode
from tools.apache_kafka import ApacheKafka
from tools.kafka_cluster import SMALL_HEAP


class KafkaNode(ClusterNode):
    """The place and the settings are a Penstock node's; the process is Kafka's."""

    ready_s = 120.0
    heap: Sequence[str] = SMALL_HEAP

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.kafka = ApacheKafka(
            self.data_dir, heap=self.heap, port=self.ports.clients, start_timeout=self.ready_s
        )
        self.kafka.controller_port = self.ports.controllers
        self.kafka.format_flags = ()
        self.kafka.settings |= self.settings | {"controller.quorum.bootstrap.servers": ""}
        self.log_file = self.kafka.log_file

    @property
    def pid(self) -> int:
        return self.kafka.pid

    @property
    def running(self) -> bool:
        return self.kafka.running

    def launch(self) -> None:
        self.is_paused = False
        self.kafka.launch()

    def wait_ready(self) -> None:
        self.kafka.wait_ready()

    def stop(self) -> int:
        if self.is_paused:
            self.resume()
        self.kafka.stop()
        return 0

    def kill(self) -> None:
        self.kafka.kill()

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        self.is_paused = True

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)
        self.is_paused = False


class KafkaTarget(Cluster):
    node_class = KafkaNode

    def format(self) -> None:
        """By Kafka's tool for one node; the others get a copy with their own names in it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        first, *rest = self.nodes.values()
        assert isinstance(first, KafkaNode)
        if (first.data_dir / "meta.properties").exists():
            return
        first.kafka.format()
        for node in rest:
            shutil.copytree(first.data_dir, node.data_dir)
            _rename(node.data_dir / "meta.properties", node.id)


def _rename(meta: Path, node_id: int) -> None:
    lines = [line for line in meta.read_text().splitlines() if not line.startswith("directory.id")]
    own = [f"node.id={node_id}" if line.startswith("node.id") else line for line in lines]
    meta.write_text("\n".join([*own, ""]))
