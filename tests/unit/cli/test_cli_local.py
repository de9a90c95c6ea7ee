"""`penstock cluster start` and the commands that act on what it runs: three real nodes."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.local.process import ProcessId
from penstock.testing.record import produce_records, read_records
from tests.unit.cli.command_server import CommandServer
from tests.unit.cli.conftest import Command

WAIT_S = 60.0


class Running:
    """`penstock cluster start`, and what it prints."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.home = home
        command = [sys.executable, "-m", "penstock.cli.main", "cluster", "start"]
        self.process = subprocess.Popen(
            [*command, "--data-dir", str(home), "--listen-base", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as out:
            for line in out:
                self._lines.put(line.rstrip("\n"))

    def wait_line(self, part: str) -> str:
        """The next line with this in it."""
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                said = "\n".join(self.said)
                raise AssertionError(f"{part!r} was not said, but:\n{said}") from None
            self.said.append(line)
            if part in line:
                return line

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(WAIT_S)


@contextmanager
def running(home: Path, *arguments: str) -> Iterator[Running]:
    started = Running(home, *arguments)
    try:
        started.wait_line("Ctrl-C stops all nodes.")
        yield started
    finally:
        if started.process.poll() is None:
            started.end(signal.SIGTERM)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("local") / "cluster") as started:
        yield started


@pytest.fixture
def command(cluster: Running, command_server: CommandServer) -> Command:
    return Command("127.0.0.1:1", command_server)


def status(command: Command, cluster: Running) -> dict[str, Any]:
    document: dict[str, Any] = command.run(
        "cluster", "status", "--data-dir", str(cluster.home), "--json"
    ).json
    return document


def states(command: Command, cluster: Running) -> list[str]:
    return [each["state"] for each in status(command, cluster)["nodes"]]


def test_it_comes_up_and_says_how_to_go_on(cluster: Running, command: Command) -> None:
    said = "\n".join(cluster.said)
    for node in (1, 2, 3):
        assert f"node {node} ready on 127.0.0.1:" in said
    assert "all in sync after" in said
    servers = status(command, cluster)["bootstrap_servers"]
    assert f"bootstrap servers: {servers}" in said
    assert f"penstock cluster status --data-dir {cluster.home}" in said
    assert said.index("ready") < said.index("in sync") < said.index("bootstrap")


def test_status_shows_every_node(cluster: Running, command: Command) -> None:
    seen = status(command, cluster)
    assert seen["runner"] == cluster.process.pid
    assert seen["controller"] in (1, 2, 3)
    assert [each["state"] for each in seen["nodes"]] == ["up", "up", "up"]
    assert len({each["pid"] for each in seen["nodes"]}) == 3
    lines = command.run("cluster", "status", "--data-dir", str(cluster.home)).lines
    assert "state       all in sync" in lines


def test_its_topics_have_three_replicas_on_this_host(cluster: Running, command: Command) -> None:
    servers = status(command, cluster)["bootstrap_servers"]
    command.run("-b", servers, "topics", "create", "orders")
    (described,) = command.run("-b", servers, "topics", "describe", "orders", "--json").json
    assert {len(each["replicas"]) for each in described["partitions"]} == {3}
    brokers = command.run("-b", servers, "brokers", "list", "--json").json
    assert {each["rack"] for each in brokers} == {socket.gethostname()}


def test_a_second_start_is_refused(cluster: Running, command: Command) -> None:
    said = command.fail("cluster", "start", "--data-dir", str(cluster.home))
    assert said.startswith(f"a cluster runs in {cluster.home} already")


def test_a_killed_node_is_named_and_comes_back_when_told(
    cluster: Running, command: Command
) -> None:
    home = ("--data-dir", str(cluster.home))
    servers = status(command, cluster)["bootstrap_servers"]
    produce_records(servers, "survives", ["before"])
    (line,) = command.run("cluster", "kill", "2", *home).lines
    assert line.startswith("node 2 killed (process ")
    line = cluster.wait_line("node 2 died")
    assert "killed by SIGKILL" in line and f"penstock cluster restart 2 {' '.join(home)}" in line
    last = cluster.wait_line("  ")
    assert last.strip(), "the last line of its log"
    assert states(command, cluster) == ["up", "down", "up"]
    assert "node 2 does not run" in command.fail("cluster", "kill", "2", *home)
    produce_records(servers, "survives", ["while it is down"], timeout_s=30)
    time.sleep(0.5)
    assert states(command, cluster)[1] == "down", "nothing is restarted unasked"
    (line,) = command.run("cluster", "restart", "2", *home).lines
    assert line.startswith("node 2 ready on 127.0.0.1:")
    cluster.wait_line("all in sync")
    assert states(command, cluster) == ["up", "up", "up"]
    values = {each.value for each in read_records(servers, "survives", count=2, timeout_s=30)}
    assert values == {b"before", b"while it is down"}


def test_a_node_is_stopped_cleanly(cluster: Running, command: Command) -> None:
    home = ("--data-dir", str(cluster.home))
    (line,) = command.run("cluster", "stop", "1", *home).lines
    assert line.startswith("node 1 stopped in ")
    cluster.wait_line("node 1 stopped; ")
    log = (cluster.home / "node-1" / "penstock.log").read_text()
    assert log.rstrip().endswith("stopped")
    command.run("cluster", "restart", "1", *home)
    cluster.wait_line("all in sync")


def test_the_controller_is_the_active_one(cluster: Running, command: Command) -> None:
    """And not any broker that forwards to it, which changes from one answer to the next."""
    seen = status(command, cluster)
    for _ in range(5):
        info = command.run("-b", seen["bootstrap_servers"], "cluster", "info", "--json").json
        assert info["controller"] == seen["controller"]
        assert [each["id"] for each in info["brokers"] if each["controller"]] == [
            seen["controller"]
        ]


def test_without_a_controller_every_command_says_so(cluster: Running, command: Command) -> None:
    home = ("--data-dir", str(cluster.home))
    servers = status(command, cluster)["bootstrap_servers"]
    # Named twice, it is killed once.
    assert len(command.run("cluster", "kill", "1", "2", "2", *home).lines) == 2
    (fault,) = status(command, cluster)["faults"]
    assert fault.startswith("no active controller: 2 of 3 controllers down, and more than half")
    assert fault.endswith("`penstock cluster restart 1 2` starts them")
    said = "answer, but not to this; is there an active controller (`penstock doctor` tells)"
    for words in (("quorum",), ("brokers", "list"), ("topics", "create", "none")):
        assert said in command.fail("-b", servers, "--timeout", "1", *words)
    command.run("cluster", "restart", "1", "2", *home)
    cluster.wait_line("all in sync")


def test_a_running_node_is_restarted_as_another_process(cluster: Running, command: Command) -> None:
    before = status(command, cluster)["nodes"][2]["pid"]
    command.run("cluster", "restart", "3", "--data-dir", str(cluster.home))
    cluster.wait_line("all in sync")
    assert status(command, cluster)["nodes"][2]["pid"] != before


def test_a_node_that_is_not_there_is_refused(cluster: Running, command: Command) -> None:
    home = ("--data-dir", str(cluster.home))
    for action in ("kill", "stop", "restart"):
        said = command.fail("cluster", action, "1", "7", *home)
        assert said == "there is no node 7; there are 1, 2, 3"
    assert states(command, cluster) == ["up", "up", "up"], "and nothing was done"


def test_a_folder_without_a_cluster_is_refused(command: Command, tmp_path: Path) -> None:
    said = command.fail("cluster", "status", "--data-dir", str(tmp_path))
    assert said == f"there is no cluster in {tmp_path}; `penstock cluster start` makes one"


def pids(command: Command, home: Path) -> list[ProcessId]:
    nodes = command.run("cluster", "status", "--data-dir", str(home), "--json").json["nodes"]
    return [ProcessId.of(each["pid"]) for each in nodes]


def test_ctrl_c_stops_all_and_the_next_start_goes_on(command: Command, tmp_path: Path) -> None:
    home = tmp_path / "cluster"
    with running(home) as first:
        servers = command.run("cluster", "status", "--data-dir", str(home), "--json").json[
            "bootstrap_servers"
        ]
        produce_records(servers, "kept", ["by three"])
        nodes = pids(command, home)
        assert first.end() == 0
        first.wait_line("stopping all nodes; Ctrl-C once more ends them at once")
        for _ in nodes:
            first.wait_line("stopped after")
        assert not any(each.is_alive() for each in nodes)
        assert "did not stop" not in "\n".join(first.said)
    with running(home):
        assert [each.value for each in read_records(servers, "kept", count=1)] == [b"by three"]


def test_a_second_ctrl_c_ends_all_at_once(command: Command, tmp_path: Path) -> None:
    home = tmp_path / "cluster"
    with running(home, "--nodes", "1") as started:
        (node,) = pids(command, home)
        os.kill(node.pid, signal.SIGSTOP)
        started.process.send_signal(signal.SIGINT)
        started.wait_line("stopping all nodes")
        started.wait_line("stopping node 1")
        assert started.end() == 130
        started.wait_line("all nodes killed")
        assert node.wait_gone(10)


def test_nodes_that_nobody_watches_are_named(command: Command, tmp_path: Path) -> None:
    home = tmp_path / "cluster"
    where = ("--data-dir", str(home))
    with running(home, "--nodes", "1") as started:
        (node,) = pids(command, home)
        started.end(signal.SIGKILL)
        said = command.fail("cluster", "start", *where)
        assert "node 1 of an earlier start still runs" in said
        assert f"`penstock cluster stop 1 --data-dir {home}`" in said
        assert "nobody runs the cluster" in command.fail("cluster", "restart", "1", *where)
        command.run("cluster", "stop", "1", *where)
        assert not node.is_alive()
    with running(home):
        pass


def test_a_cluster_that_cannot_come_up_says_where_to_look(tmp_path: Path) -> None:
    started = Running(tmp_path / "cluster", "--nodes", "1", "--set", "num.io.threads=none")
    died = started.wait_line("node 1 died")
    assert "exit code" in died
    assert "num.io.threads" in started.wait_line("  ")
    started.wait_line("no node came up; their logs are in")
    assert started.process.wait(WAIT_S) == 1
