"""Several Apache Kafka nodes on this machine that make up one cluster.

Each node is broker and voter in one process, on loopback ports of its own. Nodes are named by
their ids, from 1. Nothing here knows Penstock.
"""

from __future__ import annotations

import base64
import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.apache_kafka import BROKER_JVM, ApacheKafka

SMALL_HEAP = ("-Xmx256m",)
"""Three of them beside a test; `tools.apache_kafka.BROKER_HEAP` is what Kafka itself would take."""


class KafkaCluster:
    """`dynamic`: the voters are in the metadata log (KIP-853), and not in the settings."""

    def __init__(
        self,
        folder: Path,
        nodes: int = 3,
        settings: Mapping[str, str] | None = None,
        *,
        racks: Sequence[str] = (),
        dynamic: bool = False,
        heap: Sequence[str] = SMALL_HEAP,
        jvm: Sequence[str] = BROKER_JVM,
    ) -> None:
        replicas = str(min(nodes, 3))
        own = {
            "offsets.topic.replication.factor": replicas,
            "share.coordinator.state.topic.replication.factor": replicas,
            "transaction.state.log.replication.factor": replicas,
        } | dict(settings or {})
        self._folder = folder
        self._dynamic = dynamic
        self._directory_ids = {number: random_id() for number in range(1, nodes + 1)}
        self.nodes = {
            number: ApacheKafka(folder / f"node-{number}", heap=heap, jvm=jvm)
            for number in range(1, nodes + 1)
        }
        for number, node in self.nodes.items():
            node.settings |= self._place(number) | own
            if racks:
                node.settings["broker.rack"] = racks[number - 1]

    def _place(self, number: int) -> dict[str, str]:
        """What tells a node who it is and who the others are."""
        return {
            "node.id": str(number),
            "controller.quorum.voters": "" if self._dynamic else self.voters,
            "controller.quorum.bootstrap.servers": self.controllers if self._dynamic else "",
        }

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(node.bootstrap_servers for node in self.nodes.values())

    @property
    def controllers(self) -> str:
        """As `controller.quorum.bootstrap.servers` names them."""
        return ",".join(f"127.0.0.1:{node.controller_port}" for node in self.nodes.values())

    @property
    def voters(self) -> str:
        """As `controller.quorum.voters` names them."""
        return ",".join(
            f"{number}@127.0.0.1:{node.controller_port}" for number, node in self.nodes.items()
        )

    def __enter__(self) -> KafkaCluster:
        self.start_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_all()

    def start_all(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._format()
        try:
            for node in self.nodes.values():
                node.launch()
            for node in self.nodes.values():
                node.wait_ready()
        except BaseException:
            self.kill_all()
            raise

    def start(self, number: int) -> None:
        self.nodes[number].start()

    def stop(self, number: int) -> None:
        """Shut down cleanly: the leaders move first."""
        self.nodes[number].stop()

    def restart(self, number: int) -> None:
        self.nodes[number].restart()

    def kill(self, number: int) -> None:
        self.nodes[number].kill()

    def kill_all(self) -> None:
        for node in self.nodes.values():
            node.kill()

    def _format(self) -> None:
        """By Kafka's tool for one node; the others get a copy with their own names in it."""
        first, *rest = self.nodes
        meta = self.nodes[first].data_dir / "meta.properties"
        if meta.exists():
            return
        self.nodes[first].format_flags = self._format_flags()
        self.nodes[first].format()
        text = meta.read_text()
        formatted = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        for number in rest:
            home = self.nodes[number].data_dir
            shutil.copytree(self.nodes[first].data_dir, home)
            own = formatted | {
                "node.id": str(number),
                "directory.id": self._directory_ids[number],
            }
            (home / "meta.properties").write_text(
                "".join(f"{key}={value}\n" for key, value in own.items())
            )

    def _format_flags(self) -> list[str]:
        if not self._dynamic:
            return []
        voters = (
            f"{number}@127.0.0.1:{node.controller_port}:{self._directory_ids[number]}"
            for number, node in self.nodes.items()
        )
        return ["--initial-controllers", ",".join(voters)]


def random_id() -> str:
    """Sixteen bytes as Kafka writes them; never with a dash in front, which a tool would take for
    an option."""
    while (text := _encode(uuid.uuid4())).startswith("-"):
        pass
    return text


def _encode(value: uuid.UUID) -> str:
    return base64.urlsafe_b64encode(value.bytes).rstrip(b"=").decode()
