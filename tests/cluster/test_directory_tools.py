"""Kafka's tools move replicas between directories of two nodes, while others write and read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from penstock.testing.cluster import Cluster
from penstock.testing.nursery import Nursery
from tools.tool_host import shared_tool_host

PATIENCE_S = 90.0
TOPIC = "t"
PARTITIONS = 2

pytestmark = pytest.mark.java
Tool = Callable[..., str]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Cluster]:
    nursery = Nursery()
    settings = {"log.segment.bytes": 1 << 20, "offsets.topic.num.partitions": 1}
    cluster = Cluster(tmp_path / "cluster", 2, settings, nursery=nursery)
    for node in cluster.nodes.values():
        node.settings["log.dirs"] = f"{node.data_dir}/one,{node.data_dir}/two"
    try:
        cluster.start_all()
        yield cluster
    finally:
        cluster.kill_all()
        nursery.close()


def tool_of(cluster: Cluster) -> Tool:
    def run(name: str, *words: str) -> str:
        where = ["--bootstrap-server", cluster.bootstrap_servers]
        done = shared_tool_host().run(name, [*where, *words])
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    return run


def penstock(cluster: Cluster, *words: str, fails: bool = False) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", *words],
        env=os.environ | {"PENSTOCK_BOOTSTRAP_SERVERS": cluster.bootstrap_servers},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


class Load:
    """An idempotent producer and a consumer of each record, in threads of their own."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._stop = Event()
        self.acknowledged: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
        self.read: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
        self.errors: list[object] = []
        self._threads = [Thread(target=self._write), Thread(target=self._read)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)

    def _write(self) -> None:
        producer = Producer(
            {"bootstrap.servers": self._servers, "enable.idempotence": True, "linger.ms": 1}
        )

        def on_delivery(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self.errors.append(error)
            else:
                self.acknowledged[message.partition() or 0].append(message.value() or b"")

        number = 0
        while not self._stop.is_set():
            for partition in range(PARTITIONS):
                value = b"%08d" % number * 250
                producer.produce(TOPIC, value, partition=partition, on_delivery=on_delivery)
            number += 1
            producer.poll(0.002)
        assert producer.flush(PATIENCE_S) == 0

    def _read(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": "moves",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
            }
        )
        consumer.assign([TopicPartition(TOPIC, index, 0) for index in range(PARTITIONS)])
        until = time.monotonic() + 2 * PATIENCE_S
        while not self._is_level() and time.monotonic() < until:
            for message in consumer.consume(500, 0.1):
                if message.error() is not None:
                    self.errors.append(message.error())
                    continue
                found = self.read[message.partition() or 0]
                if message.offset() != len(found):
                    self.errors.append((message.partition(), message.offset(), len(found)))
                found.append(message.value() or b"")
        consumer.close()

    def _is_level(self) -> bool:
        return (
            self._stop.is_set()
            and not self._threads[0].is_alive()
            and list(map(len, self.read)) == list(map(len, self.acknowledged))
        )


def held(cluster: Cluster, number: int, topic: str = TOPIC) -> list[str]:
    """In which directory each partition is."""
    home = cluster.nodes[number].data_dir
    found = {
        int(each.name.rpartition("-")[2]): each.parent.name for each in home.glob(f"*/{topic}-?")
    }
    return [found[index] for index in sorted(found)]


def plan_of(cluster: Cluster, where: dict[str, list[tuple[list[int], list[str]]]]) -> str:
    return json.dumps(
        {
            "version": 1,
            "partitions": [
                {
                    "topic": topic,
                    "partition": index,
                    "replicas": replicas,
                    "log_dirs": [
                        f"{cluster.nodes[number].data_dir}/{name}" if name != "any" else name
                        for number, name in zip(replicas, names, strict=True)
                    ],
                }
                for topic, partitions in where.items()
                for index, (replicas, names) in enumerate(partitions)
            ],
        }
    )


def carry_out(tool: Tool, plan: str, path: Path) -> str:
    """What the tool says of it when it is done."""
    path.write_text(plan)
    words = ["--reassignment-json-file", str(path)]
    tool("kafka-reassign-partitions", "--execute", *words)
    until = time.monotonic() + PATIENCE_S
    while True:
        said = tool("kafka-reassign-partitions", "--verify", *words)
        if "in progress" not in said:
            return said
        assert time.monotonic() < until, said
        time.sleep(0.2)


def test_replicas_move_under_load(two: Cluster, tmp_path: Path) -> None:
    two.create_topic(TOPIC, PARTITIONS, replication_factor=2)
    two.create_topic("u", 1, replication_factor=1)
    two.produce("u", ["kept"])
    two.wait_in_sync()
    tool = tool_of(two)
    replicas = [
        list(each.replicas) for key, each in sorted(two.partitions().items()) if key[0] == TOPIC
    ]
    (leader_of_u,) = {key[0]: each.replicas for key, each in two.partitions().items()}["u"]
    with Load(two.bootstrap_servers) as load:
        for number in (1, 2, 1):
            before = held(two, number)
            turned = ["one" if name == "two" else "two" for name in before]
            wanted = [
                (each, [name if one == number else "any" for one in each])
                for each, name in zip(replicas, turned, strict=True)
            ]
            said = carry_out(tool, plan_of(two, {TOPIC: wanted}), tmp_path / "plan.json")
            for index in range(PARTITIONS):
                done = f"Reassignment of replica {TOPIC}-{index}-{number} completed successfully."
                assert done in said
            assert held(two, number) == turned
        # The same with our own command.
        (before, *_) = held(two, 2)
        turned = f"{two.nodes[2].data_dir}/{'one' if before == 'two' else 'two'}"
        move = ["partitions", "move-dir", f"{TOPIC}:0", "--broker", "2", "--to"]
        assert penstock(two, *move, turned, "--wait") == f"{TOPIC}:0 of broker 2 is in {turned}\n"
        assert held(two, 2)[0] != before
        assert "no such log directory" in penstock(two, *move, "/nowhere", fails=True)
        # To another node, and into the directory there that it would not take by itself.
        other = 3 - leader_of_u
        wanted = [([other], ["two"])]
        said = carry_out(tool, plan_of(two, {"u": wanted}), tmp_path / "plan.json")
        assert f"Reassignment of replica u-0-{other} completed successfully." in said
        assert held(two, other, "u") == ["two"]
        so_far = sum(map(len, load.acknowledged))
        until = time.monotonic() + PATIENCE_S
        while sum(map(len, load.acknowledged)) < so_far + 100:
            assert time.monotonic() < until
            time.sleep(0.05)
    assert not load.errors
    assert min(map(len, load.acknowledged)) > 100
    assert load.read == load.acknowledged
    said = tool("kafka-log-dirs", "--describe", "--topic-list", TOPIC)
    for broker in json.loads(said.splitlines()[-1])["brokers"]:
        shown = {
            one["partition"]: Path(each["logDir"]).name
            for each in broker["logDirs"]
            for one in each["partitions"]
            if not one["isFuture"]
        }
        assert [shown[f"{TOPIC}-{index}"] for index in range(PARTITIONS)] == held(
            two, broker["broker"]
        )
    assert [each.value for each in two.read("u", count=1)] == [b"kept"]
