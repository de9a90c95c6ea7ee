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
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, Protocol

from tools.apache_kafka import CLUSTER_ID, ApacheKafka, answers_metadata, free_port
from tools.brief_kafka import brief_jvm
from tools.kafka_cluster import SMALL_HEAP

WITHOUT_SHARE_AND_STREAMS = ("--feature", "share.version=0", "--feature", "streams.version=0")
START_S = 90.0
STOP_S = 60.0
WAIT_S = 60.0

Role = Literal["broker", "controller"]

QUICK = {
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "group.initial.rebalance.delay.ms": "0",
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "log.retention.check.interval.ms": "600000",
    "replica.fetch.backoff.ms": "100",
}


class Node(Protocol):
    number: int
    log_file: Path
    data_dir: Path

    @property
    def bootstrap_servers(self) -> str: ...

    def launch(self) -> None: ...

    def wait_ready(self) -> None: ...

    def stop(self) -> None: ...

    def kill(self) -> None: ...


def properties(
    number: int, role: Role, port: int, controllers: Sequence[str], data_dir: Path
) -> dict[str, str]:
    name = "PLAINTEXT" if role == "broker" else "CONTROLLER"
    listener = f"{name}://127.0.0.1:{port}"
    return {
        "process.roles": role,
        "node.id": str(number),
        "controller.quorum.bootstrap.servers": ",".join(controllers),
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listeners": listener,
        "advertised.listeners": listener,
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(data_dir),
    }


class KafkaNode(ApacheKafka):
    """A node of Apache Kafka that is either broker or controller."""

    def __init__(
        self,
        folder: Path,
        number: int,
        role: Role,
        port: int,
        controllers: Sequence[str],
        settings: Mapping[str, str],
    ) -> None:
        home = folder / f"kafka-{number}"
        own = properties(number, role, port, controllers, home)
        super().__init__(
            home,
            dict(own) | dict(settings),
            heap=SMALL_HEAP,
            jvm=brief_jvm(),
            port=port,
            start_timeout=START_S,
        )
        self.number = number
        first = "--standalone" if role == "controller" else "--no-initial-controllers"
        self.format_flags = (first, *WITHOUT_SHARE_AND_STREAMS)
        self._role = role

    def stop(self, timeout: float = STOP_S) -> None:
        super().stop(timeout)

    def _wait_ready(self) -> None:
        if self._role == "broker":
            super()._wait_ready()
        else:
            wait_until(lambda: _accepts(self.port), "Apache Kafka's controller does not listen")


class PenstockNode:
    """Ours, as `penstock start --config` runs it."""

    def __init__(
        self,
        folder: Path,
        number: int,
        role: Role,
        port: int,
        controllers: Sequence[str],
        settings: Mapping[str, str],
    ) -> None:
        self.number = number
        self.port = port
        self.data_dir = folder / f"penstock-{number}"
        self.log_file = folder / f"penstock-{number}.out"
        self.settings = properties(number, role, port, controllers, self.data_dir) | dict(settings)
        self._file = folder / f"penstock-{number}.properties"
        self._role = role
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

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
        first = "--standalone" if self._role == "controller" else "--no-initial-controllers"
        asked = ("storage", "format", "-t", CLUSTER_ID, "-c", str(self._file), first)
        code = self._spawn(*asked, *WITHOUT_SHARE_AND_STREAMS).wait(START_S)
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
        is_up = answers_metadata if self._role == "broker" else _accepts
        wait_until(lambda: self._is_running() and is_up(self.port), self._story, START_S)

    def _story(self) -> str:
        return f"penstock {self.number} is not ready\n{self.log_file.read_text()[-3000:]}"

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


class MixedCluster:
    """Node 1 is the controller; brokers have the numbers given."""

    def __init__(
        self,
        folder: Path,
        controller: type[KafkaNode] | type[PenstockNode],
        brokers: Mapping[int, type[KafkaNode] | type[PenstockNode]],
        settings: Mapping[str, str] | None = None,
    ) -> None:
        port = free_port()
        servers = [f"127.0.0.1:{port}"]
        own = QUICK | dict(settings or {})
        self.controller = controller(folder, 1, "controller", port, servers, own)
        self.brokers = {
            number: kind(folder, number, "broker", free_port(), servers, own)
            for number, kind in brokers.items()
        }
        self._folder = folder

    @property
    def nodes(self) -> list[KafkaNode | PenstockNode]:
        return [self.controller, *self.brokers.values()]

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
        except BaseException:
            self.kill_all()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_all()
        kept = os.environ.get("PENSTOCK_MIXED_LOGS")
        if kept:
            shutil.copytree(self._folder, Path(kept) / self._folder.name, dirs_exist_ok=True)

    def kill_all(self) -> None:
        for node in self.nodes:
            node.kill()

    def start(self, number: int) -> None:
        self.brokers[number].launch()
        self.brokers[number].wait_ready()


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def wait_until(
    condition: Callable[[], object], why: str | Callable[[], str], timeout_s: float = WAIT_S
) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(why if isinstance(why, str) else why())
        time.sleep(0.05)
