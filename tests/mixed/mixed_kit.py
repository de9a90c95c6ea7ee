"""One cluster of Apache Kafka's and of our nodes: processes on this machine, each with one role.

Every node is started from a `server.properties` of the same shape, whoever runs it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from penstock.testing.port import free_port
from tests.patience import wait_until
from tools.apache_kafka import CLUSTER_ID, ApacheKafka, answers_metadata
from tools.brief_kafka import brief_jvm
from tools.kafka_cluster import SMALL_HEAP, random_id

# Only reached where something is wrong: on a busy machine everything takes its time.
START_S = 240.0
STOP_S = 180.0
CALL_S = 30.0

Role = Literal["broker", "controller"]

QUICK = {
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "500",
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "group.initial.rebalance.delay.ms": "0",
    "replica.fetch.backoff.ms": "100",
}


class Place(NamedTuple):
    """Who a node is, and where it finds the controllers."""

    number: int
    role: Role
    port: int
    quorum: Mapping[str, str]
    format_flags: Sequence[str]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def settings(self, data_dir: Path) -> dict[str, str]:
        name = "PLAINTEXT" if self.role == "broker" else "CONTROLLER"
        return {
            "process.roles": self.role,
            "node.id": str(self.number),
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listeners": f"{name}://{self.address}",
            "advertised.listeners": f"{name}://{self.address}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(data_dir),
            **self.quorum,
        }


class KafkaNode(ApacheKafka):
    """A node of Apache Kafka that is either broker or controller."""

    def __init__(self, folder: Path, place: Place, settings: Mapping[str, str]) -> None:
        home = folder / f"kafka-{place.number}"
        super().__init__(
            home,
            {"controller.quorum.bootstrap.servers": "", **place.settings(home), **settings},
            heap=SMALL_HEAP,
            jvm=brief_jvm(),
            port=place.port,
            start_timeout=START_S,
        )
        self.place = place
        self.format_flags = place.format_flags

    def stop(self, timeout: float = STOP_S) -> None:
        super().stop(timeout)

    def _wait_ready(self) -> None:
        if self.place.role == "broker":
            super()._wait_ready()
        else:
            wait_until(lambda: _accepts(self.port), "Apache Kafka's controller does not listen")


class PenstockNode:
    """Ours, as `penstock start --config` runs it."""

    def __init__(self, folder: Path, place: Place, settings: Mapping[str, str]) -> None:
        self.place = place
        self.data_dir = folder / f"penstock-{place.number}"
        self.log_file = folder / f"penstock-{place.number}.out"
        self.settings = place.settings(self.data_dir) | dict(settings)
        self._file = folder / f"penstock-{place.number}.properties"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        return self.place.address

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def launch(self) -> None:
        lines = (f"{key}={value}\n" for key, value in self.settings.items())
        self._file.write_text("".join(lines))
        if not (self.data_dir / "meta.properties").exists():
            self._format()
        self._process = self._spawn("start", "--config", str(self._file), "--log-level", "debug")

    def _format(self) -> None:
        asked = ("storage", "format", "-t", CLUSTER_ID, "-c", str(self._file))
        code = self._spawn(*asked, *self.place.format_flags).wait(START_S)
        assert code == 0, self.log_file.read_text()

    def _spawn(self, *arguments: str) -> subprocess.Popen[bytes]:
        with open(self.log_file, "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "penstock", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_ready(self) -> None:
        is_up = answers_metadata if self.place.role == "broker" else _accepts
        wait_until(
            lambda: self._is_running() and is_up(self.place.port), self._story, patience_s=START_S
        )

    def _story(self) -> str:
        return f"penstock {self.place.number} is not well\n{self.log_file.read_text()[-3000:]}"

    def _is_running(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._story()
        return True

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            process, self._process = self._process, None
            assert process.wait(STOP_S) == 0, self._story()

    def kill(self) -> None:
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


Kind = type[KafkaNode] | type[PenstockNode]


class MixedCluster:
    """Controllers and brokers by their numbers. `static`: voters by settings (kraft.version 0).
    `users`: those that it is formatted with, as `--add-scram` takes them."""

    def __init__(
        self,
        folder: Path,
        controllers: Mapping[int, Kind],
        brokers: Mapping[int, Kind],
        settings: Mapping[str, str] | None = None,
        *,
        static: bool = False,
        users: Sequence[str] = (),
    ) -> None:
        self._folder = folder
        own = QUICK | dict(settings or {})
        ports = {number: free_port() for number in controllers}
        quorum, first = _static(ports) if static else _dynamic(ports)
        joins = () if static else ("--no-initial-controllers",)
        first = (*first, *(word for user in users for word in ("--add-scram", user)))
        self.controllers = {
            number: kind(folder, Place(number, "controller", ports[number], quorum, first), own)
            for number, kind in controllers.items()
        }
        self.brokers = {
            number: kind(folder, Place(number, "broker", free_port(), quorum, joins), own)
            for number, kind in brokers.items()
        }

    @property
    def nodes(self) -> list[KafkaNode | PenstockNode]:
        return [*self.controllers.values(), *self.brokers.values()]

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(each.bootstrap_servers for each in self.brokers.values())

    def __enter__(self) -> MixedCluster:
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            with ThreadPoolExecutor() as threads:
                list(threads.map(lambda node: node.launch(), self.nodes))
            for node in self.nodes:
                node.wait_ready()
            self.wait_unfenced()
        except BaseException:
            self.kill_all()
            raise
        return self

    def wait_unfenced(self) -> None:
        """Until every broker that runs tells clients of all of them: before, a tool that asks for
        three replicas comes too early."""
        for broker in self.brokers.values():
            asked = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
            wait_until(partial(_lists, asked, set(self.brokers)), "not all brokers are unfenced")

    def __exit__(self, *_: object) -> None:
        self.kill_all()
        kept = os.environ.get("PENSTOCK_MIXED_LOGS")
        if kept:
            shutil.rmtree(Path(kept) / self._folder.name, ignore_errors=True)
            shutil.copytree(self._folder, Path(kept) / self._folder.name)

    def kill_all(self) -> None:
        for node in self.nodes:
            node.kill()

    def node(self, number: int) -> KafkaNode | PenstockNode:
        return self.controllers.get(number) or self.brokers[number]

    def start(self, number: int) -> None:
        self.node(number).launch()
        self.node(number).wait_ready()


def _static(ports: Mapping[int, int]) -> tuple[dict[str, str], Sequence[str]]:
    voters = ",".join(f"{number}@127.0.0.1:{port}" for number, port in ports.items())
    return {"controller.quorum.voters": voters}, ()


def _dynamic(ports: Mapping[int, int]) -> tuple[dict[str, str], Sequence[str]]:
    servers = ",".join(f"127.0.0.1:{port}" for port in ports.values())
    voters = ",".join(f"{number}@127.0.0.1:{port}:{random_id()}" for number, port in ports.items())
    flags = ("--initial-controllers", voters)
    return {"controller.quorum.bootstrap.servers": servers}, flags


def _lists(admin: AdminClient, brokers: set[int]) -> bool:
    """Whether a client is told of these brokers."""
    try:
        return brokers <= set(admin.list_topics(timeout=CALL_S).brokers)
    except KafkaException:
        return False


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True
