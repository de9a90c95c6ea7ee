"""Six hosts of docs/migrate.md on this machine, three of them Apache Kafka's, and clients that
work on all the while."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.testing.port import free_port
from tests.mixed.load_kit import (
    PATIENCE_S,
    Group,
    Transactions,
    Worker,
    Writer,
    number_of,
    read_all,
)
from tests.mixed.mixed_kit import QUICK
from tests.mixed.our_node import OurNode
from tests.page_kit import Reader
from tests.patience import wait_until
from tools.apache_kafka import CLUSTER_ID, ApacheKafka
from tools.brief_kafka import brief_cluster

TOPIC, PARTITIONS = "orders", 6
KAFKA, OURS = (1, 2, 3), (4, 5, 6)
DATA = "/var/lib/penstock"
ROUNDS = 3


class Hosts:
    """Kafka's cluster runs from the start; nodes of ours come with the page."""

    def __init__(self, folder: Path, *, dynamic: bool) -> None:
        settings = QUICK | {"broker.session.timeout.ms": "9000"}
        self.kafka = brief_cluster(folder / "kafka", 3, settings=settings, dynamic=dynamic)
        self.reader = Reader(folder, {"CLUSTER_ID": CLUSTER_ID}, self._service, self._data_dir)
        self.ours: dict[str, OurNode] = {}
        for number, node in self.kafka.nodes.items():
            self._name(f"kafka{number}", node.port, node.controller_port)
        for number in OURS:
            host, port = f"penstock{number}", free_port()
            self._name(host, port, free_port())
            self.ours[host] = OurNode(self.reader.home(host), port)

    def _name(self, host: str, clients: int, controllers: int) -> None:
        self.reader.names[f"{host}:9092"] = f"127.0.0.1:{clients}"
        self.reader.names[f"{host}:9093"] = f"127.0.0.1:{controllers}"

    @property
    def bootstrap_servers(self) -> str:
        """Of all hosts: clients know the old and the new ones."""
        names = self.reader.names
        return ",".join(names[name] for name in sorted(names) if name.endswith(":9092"))

    @contextmanager
    def running(self) -> Iterator[Hosts]:
        try:
            with self.kafka:
                yield self
        finally:
            for node in self.ours.values():
                node.kill()

    def write_ours(self, properties: str) -> None:
        """The page's file, for each of our hosts."""
        for number in OURS:
            host = f"penstock{number}"
            own = properties.replace("node.id=4", f"node.id={number}")
            # Only where it speaks of itself: the list of controllers has all of them.
            lines = [
                line if line.startswith("controller.quorum") else line.replace("penstock4", host)
                for line in own.splitlines()
            ]
            home = self.reader.home(host)
            text = "\n".join(lines)
            shared = "".join(f"{key}={value}\n" for key, value in QUICK.items())
            (home / "server.properties").write_text(f"{self.reader.here(text, host)}\n{shared}")

    def write_kafkas(self, changes: str) -> None:
        """Kafka's own files with the page's changes, each beside its host's commands."""
        for number, node in self.kafka.nodes.items():
            for line in self.reader.here(changes).splitlines():
                key, _, value = line.partition("=")
                node.settings[key] = value
            home = self.reader.home(f"kafka{number}")
            (home / "server.properties").write_text(node.write_properties().read_text())

    def _data_dir(self, host: str) -> dict[str, str]:
        """What the page calls a node's directory."""
        if host.startswith("kafka"):
            node = self.kafka.nodes[int(host.removeprefix("kafka"))]
            return {"/var/lib/kafka": str(node.data_dir)}
        return {DATA: str(self.reader.home(host) / "data")}

    def _service(self, host: str, verb: str, name: str) -> None:
        node: OurNode | ApacheKafka
        if name == "kafka":
            node = self.kafka.nodes[int(host.removeprefix("kafka"))]
        else:
            assert name == "penstock"
            node = self.ours.get(host) or self._in_place(host)
        assert verb in ("start", "stop")
        node.start() if verb == "start" else node.stop()

    def _in_place(self, host: str) -> OurNode:
        """Ours, from the file and the directory of a node of Kafka's."""
        port = self.kafka.nodes[int(host.removeprefix("kafka"))].port
        self.ours[host] = OurNode(self.reader.home(host), port)
        return self.ours[host]


class Load:
    """An idempotent producer, a transactional one, and a group of each protocol."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self.admin = AdminClient({"bootstrap.servers": servers})
        self.writer = Writer(servers, TOPIC, PARTITIONS)
        self.transactions = Transactions(servers, "transfer", TOPIC, PARTITIONS)
        self.groups = [
            Group(servers, f"readers-{protocol}", TOPIC, protocol)
            for protocol in ("classic", "consumer")
        ]

    @property
    def workers(self) -> list[Worker]:
        return [self.writer, self.transactions, *self.groups]

    @contextmanager
    def begun(self) -> Iterator[Load]:
        topic = NewTopic(TOPIC, PARTITIONS, 3, config={"min.insync.replicas": "2"})
        self.admin.create_topics([topic])[TOPIC].result(timeout=PATIENCE_S)
        with ExitStack() as stack:
            for worker in self.workers:
                stack.enter_context(worker)
            self.wait_progress("from the start")
            yield self

    def wait_progress(self, when: str) -> None:
        """Everybody has done something new."""
        before = {worker: worker.rounds for worker in self.workers}

        def has_progress() -> bool:
            for worker in self.workers:
                worker.check()
            return all(worker.rounds >= was + ROUNDS for worker, was in before.items())

        def stuck() -> str:
            done = (f"{worker}: {worker.rounds - was}" for worker, was in before.items())
            return f"no progress {when}: {', '.join(done)}"

        wait_until(has_progress, stuck, patience_s=2 * PATIENCE_S)

    def settle(self) -> None:
        """Every record once and in order, nothing aborted to be seen, groups where they were."""
        self.writer.end()
        self.transactions.end()
        wanted = {value for one in self.writer.acknowledged.values() for _, value in one}
        wanted |= self.transactions.committed
        found = read_all(self.servers, TOPIC, PARTITIONS)
        seen = Counter(value for records in found.values() for _, value in records)
        assert not wanted - seen.keys()
        assert not [value for value, times in seen.items() if times > 1]
        assert not seen.keys() & self.transactions.aborted
        for records in found.values():
            numbers = [number_of(value) for _, value in records if value[:1] == b"w"]
            assert numbers == sorted(numbers)
        for group in self.groups:
            group.wait_seen(wanted)
            group.end()
            assert not group.seen.keys() - seen.keys()
            assert set(self.committed(group).values()) == {0}, "lag of a group that read it all"

    def committed(self, group: Group) -> dict[int, int]:
        """How far behind a group is in each partition."""
        consumer = Consumer(
            {"bootstrap.servers": self.servers, "group.id": group.group_id}
            | {"isolation.level": "read_committed"}
        )
        try:
            places = [TopicPartition(TOPIC, index) for index in range(PARTITIONS)]
            at = consumer.committed(places, timeout=PATIENCE_S)
            return {
                one.partition: consumer.get_watermark_offsets(one, timeout=PATIENCE_S)[1]
                - one.offset
                for one in at
            }
        finally:
            consumer.close()
