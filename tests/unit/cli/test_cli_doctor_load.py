"""The doctor on brokers that are up and slow, and on a past of days: made to happen for real."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from penstock.cli.cluster import Cluster as CliCluster
from penstock.cli.history.reader import PastReader
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.model.figures import HOUR_MS, HOURS, MINUTES, Figures, GroupFigures, encode_figures
from penstock.model.internal_topic import METRICS_TOPIC
from penstock.protocol.frame import encode_request
from penstock.protocol.messages.metadata import MetadataRequest
from penstock.storage.disk import RealDisk
from penstock.testing.broker import Broker
from penstock.testing.cluster import Cluster
from tests.node.node_kit import running
from tests.unit.cli.command_server import CommandServer
from tests.unit.cli.conftest import Command
from tests.unit.cli.test_cli_groups import MINUTE_MS, commit, member, read, write

SETTINGS = {
    "penstock.metrics.topic.enable": "true",
    "penstock.metrics.topic.interval.ms": "1000",
    "group.initial.rebalance.delay.ms": "0",
}
PATIENCE_S = 120


def wait_cause(command: Command, cause: str, *groups: str, what: str = "") -> Any:
    until = time.monotonic() + PATIENCE_S
    while True:
        answer = command.try_run("doctor", *groups, "--for", "1s", "--disk", "100", "--json")
        found = answer.json["findings"] if answer.out else []
        for each in found:
            if each["cause"] == cause and what in each["what"]:
                return each
        assert time.monotonic() < until, (answer, found)


@contextmanager
def writing(servers: str, topic: str) -> Iterator[None]:
    ended = threading.Event()
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0, "log_level": 0})

    def run() -> None:
        while not ended.wait(0.02):
            producer.produce(topic, b"record", partition=0)
            producer.poll(0)
        producer.flush(10)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class SlowDisk(RealDisk):
    def __init__(self) -> None:
        self.delay_s = 0.0
        self.fdatasync = self._fdatasync

    def _fdatasync(self, fd: int) -> None:
        time.sleep(self.delay_s)
        os.fdatasync(fd)


def test_a_disk_that_became_slow(tmp_path: Path, command_server: CommandServer) -> None:
    disk = SlowDisk()
    with running(tmp_path, disk, SETTINGS) as node:
        command = Command(str(node.address), command_server)
        command.run("topics", "create", "orders", "-p", "1")
        with writing(command.servers, "orders"):
            wait_intervals(command, 5)
            disk.delay_s = 0.25
            found = wait_cause(command, "flush-slow")
            disk.delay_s = 0.0
    # How long depends on how much of the interval went by before.
    assert found["what"].startswith("the disk of broker 1 is slow: a flush takes ")
    assert " before" in found["evidence"][0]


def wait_intervals(command: Command, count: int) -> None:
    """Of each broker that writes any."""
    link, until = Link(CliCluster(Target(command.servers))), time.monotonic() + PATIENCE_S
    while True:
        kept = PastReader(link).read(MINUTES, 0)
        counts = Counter(each.broker for each in kept)
        if counts and min(counts.values()) >= count:
            return
        assert time.monotonic() < until, counts
        time.sleep(0.3)


def test_a_loop_that_never_rests(
    penstock_factory: Callable[..., Broker], command_server: CommandServer
) -> None:
    broker = penstock_factory(SETTINGS)
    command = Command(broker.bootstrap_servers, command_server)
    command.run("topics", "create", "orders", "-p", "100")
    with flooding(broker.bootstrap_servers):
        found = wait_cause(command, "loop-busy")
    assert "requests/s" in found["evidence"][0]


@contextmanager
def flooding(servers: str) -> Iterator[None]:
    """Asks for all metadata, again and again, without waiting for answers."""
    host, _, port = servers.partition(":")
    request = encode_request(1, 12, MetadataRequest(topics=None), "flood") * 50
    ended = threading.Event()

    def send(connection: socket.socket) -> None:
        with suppress(OSError):
            while not ended.is_set():
                connection.sendall(request)

    def drain(connection: socket.socket) -> None:
        with suppress(OSError):
            while connection.recv(1 << 20):
                pass

    connections = [socket.create_connection((host, int(port))) for _ in range(2)]
    threads = [
        threading.Thread(target=work, args=(each,), daemon=True)
        for each in connections
        for work in (drain, send)
    ]
    for one in threads:
        one.start()
    try:
        yield
    finally:
        ended.set()
        for each in connections:
            each.shutdown(socket.SHUT_RDWR)
            each.close()


def test_lag_that_grew_over_days(
    penstock_factory: Callable[..., Broker], command_server: CommandServer
) -> None:
    """A real group that is behind; only its days before are planted, as a broker writes them."""
    broker = penstock_factory(SETTINGS)
    command = Command(broker.bootstrap_servers, command_server)
    command.run("topics", "create", "orders", "-p", "2")
    write(command, "orders", [10 * MINUTE_MS] * 400)
    write(command, "orders", [10 * MINUTE_MS] * 400, partition=1)
    commit(command, "billing", "orders", 1, 1)
    wait_intervals(command, 2)
    now_ms = int(time.time() * 1000)
    producer = Producer({"bootstrap.servers": command.servers, "client.id": "broker-1"})
    for ago in range(96, 0, -1):
        until = now_ms - ago * HOUR_MS
        row = GroupFigures("billing", "orders", 780 - 7 * ago, 60.0, 3600, 3607, 1, 0)
        figures = Figures(1, until - HOUR_MS, until, groups=(row,))
        producer.produce(METRICS_TOPIC, encode_figures(figures), b"1", partition=HOURS)
    assert producer.flush(30) == 0
    committed = [1]
    with member(command, "billing", "orders", "classic") as consumer:
        read(consumer, 1)

        def move() -> None:
            committed[0] += 1
            for partition in (0, 1):
                commit_at(consumer, partition, committed[0])
            write(command, "orders", [0] * 4)
            write(command, "orders", [0] * 4, partition=1)

        with repeating(move):
            found = wait_cause(command, "grew-over-days", "billing")
    assert "its lag has grown for 3 days, by 168 records a day" in found["why"]


def commit_at(consumer: Any, partition: int, offset: int) -> None:
    from confluent_kafka import TopicPartition

    consumer.commit(offsets=[TopicPartition("orders", partition, offset)], asynchronous=False)


@contextmanager
def repeating(step: Callable[[], None]) -> Iterator[None]:
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(0.1):
            step()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.penstock(settings=SETTINGS)
def test_a_broker_that_waits_for_a_slow_follower(
    penstock_cluster: Cluster, command_server: CommandServer
) -> None:
    command = Command(penstock_cluster.bootstrap_servers, command_server)
    command.run("topics", "create", "orders", "-p", "1", "-r", "3")
    described = command.run("topics", "describe", "orders", "--json").json
    leader = leader_of(described)
    follower = next(node for id, node in penstock_cluster.nodes.items() if id != leader)
    with writing(command.servers, "orders"):
        wait_intervals(command, 6)
        with stuttering(follower):
            # Who leads another topic with a replica there waits as well.
            wait_cause(command, "broker-slow", what=f"broker {leader} is slow")


def leader_of(described: Any) -> int:
    topic = described[0] if isinstance(described, list) else described
    return int(topic["partitions"][0]["leader"])


@contextmanager
def stuttering(node: Any) -> Iterator[None]:
    """Stopped for most of the time, and never for so long that it is missed."""
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            node.pause()
            time.sleep(0.4)
            node.resume()
            time.sleep(0.1)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
