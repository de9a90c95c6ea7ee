"""Kafka Connect and MirrorMaker 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.testing.record import create_topic, produce_records, read_records
from tests.conformance.clients.admin_confluent import ConfluentAdmin
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.conftest import BROKER_SETTINGS, START_SECONDS, Cluster
from tests.conformance.connect_stand import ConnectStand
from tests.conformance.own_broker import OwnBroker, bring_down_and_up, own_broker
from tests.patience import wait_until

pytestmark = [pytest.mark.java]
connect = pytest.mark.client("Kafka Connect")
mirror_maker = pytest.mark.client("MirrorMaker 2")

SETTINGS = BROKER_SETTINGS | {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.min.session.timeout.ms": "1000",
}
LINES = "lines"
READ_BEFORE = 100
MIRROR = "org.apache.kafka.connect.mirror.Mirror"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"


@dataclass
class Scene:
    """A file and the topic of another cluster, copied by connectors into this broker."""

    source: str
    broker: OwnBroker
    connect: ConnectStand
    folder: Path
    topic: str
    lines: list[str] = field(default_factory=list)
    orders: list[tuple[bytes, bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.broker.bootstrap_servers

    @property
    def mirrored(self) -> str:
        return f"there.{self.topic}"

    @property
    def group(self) -> str:
        return f"{self.topic}-readers"

    @property
    def out(self) -> Path:
        return self.folder / "out.txt"

    def add(self, count: int) -> None:
        lines = [f"line {len(self.lines) + n}" for n in range(count)]
        with open(self.folder / "in.txt", "a") as file:
            file.writelines(line + "\n" for line in lines)
        self.lines += lines
        numbers = range(len(self.orders), len(self.orders) + count)
        orders = [(b"key %d" % n, b"order %d" % n) for n in numbers]
        produce_records(self.source, self.topic, orders, timeout_s=PATIENCE_SECONDS)
        self.orders += orders

    def wait_copied(self) -> None:
        """Long enough for a worker that takes over, or starts."""
        lines, orders = {line.encode() for line in self.lines}, {value for _, value in self.orders}
        wait_until(lambda: set(self.values(LINES)) >= lines, patience_s=START_SECONDS)
        wait_until(lambda: set(self.values(self.mirrored)) >= orders, patience_s=START_SECONDS)
        wait_until(
            lambda: set(self.out.read_text().splitlines()) >= set(self.lines),
            patience_s=START_SECONDS,
        )

    def translated(self) -> list[int]:
        """Where the group of the source would begin here, by partition."""
        places = [TopicPartition(self.mirrored, partition) for partition in range(2)]
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": self.group})
        found = consumer.committed(places, timeout=PATIENCE_SECONDS)
        consumer.close()
        return [place.offset for place in found]

    def values(self, topic: str) -> list[bytes | None]:
        return [one.value for one in read_records(self.address, topic, timeout_s=PATIENCE_SECONDS)]


@pytest.fixture(scope="module")
def scene(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    """Connectors at work; the worker that copies is killed, then the broker goes down."""
    folder = tmp_path_factory.mktemp("connect")
    with own_broker(request.config, folder / "data", SETTINGS) as broker:
        connect = ConnectStand(broker.bootstrap_servers, folder)
        # The source is there for all tests: what is in it has to be told apart.
        scene = Scene(cluster.bootstrap_servers, broker, connect, folder, folder.name)
        try:
            _prepare(scene)
            _play(scene)
            yield scene
        finally:
            connect.close()


def _prepare(scene: Scene) -> None:
    for _ in range(2):
        scene.connect.open()
    create_topic(scene.source, scene.topic, 2, {"retention.ms": "987654321"}, PATIENCE_SECONDS)
    create_topic(scene.address, LINES, 1, {}, PATIENCE_SECONDS)
    scene.add(READ_BEFORE)
    _read_and_commit(scene)
    _create_connectors(scene)


def _read_and_commit(scene: Scene) -> None:
    ends = [TopicPartition(scene.topic, partition) for partition in range(2)]
    consumer = Consumer({"bootstrap.servers": scene.source, "group.id": scene.group})
    for place in ends:
        place.offset = consumer.get_watermark_offsets(place, timeout=PATIENCE_SECONDS)[1]
    consumer.commit(offsets=ends, asynchronous=False)
    consumer.close()


def _create_connectors(scene: Scene) -> None:
    file = {"connector.class": "FileStreamSource", "file": str(scene.folder / "in.txt")}
    scene.connect.create("file", topic=LINES, exactly_once_support="required", **file)
    file = {"connector.class": "FileStreamSink", "file": str(scene.out)}
    hurry = {
        "consumer.override.session.timeout.ms": "3000",
        "consumer.override.heartbeat.interval.ms": "300",
    }
    scene.connect.create("sink", topics=LINES, **file, **hurry)
    clusters = {
        "source.cluster.alias": "there",
        "source.cluster.bootstrap.servers": scene.source,
        "target.cluster.alias": "here",
        "target.cluster.bootstrap.servers": scene.address,
        "offset-syncs.topic.location": "target",
        "offset-syncs.topic.replication.factor": "1",
        "offset.lag.max": "0",
        "source.consumer.isolation.level": "read_committed",
        "key.converter": BYTES,
        "value.converter": BYTES,
    }
    scene.connect.create(
        "mirror",
        **clusters,
        connector_class=f"{MIRROR}SourceConnector",
        topics=scene.topic,
        replication_factor="1",
        exactly_once_support="required",
    )
    scene.connect.create(
        "checkpoint",
        **clusters,
        connector_class=f"{MIRROR}CheckpointConnector",
        groups=scene.group,
        checkpoints_topic_replication_factor="1",
        emit_checkpoints_interval_seconds="1",
        sync_group_offsets_enabled="true",
        sync_group_offsets_interval_seconds="1",
    )


def _play(scene: Scene) -> None:
    scene.connect.wait_state("file", "sink", "mirror")
    scene.wait_copied()
    # While the position is a recent one: those long past are not translated after a restart.
    wait_until(lambda: min(scene.translated()) > 0)
    killed = scene.connect.worker_of("mirror")
    scene.add(100)
    scene.connect.kill(killed)
    scene.add(100)
    scene.wait_copied()
    scene.connect.open(killed)
    scene.add(100)
    bring_down_and_up(scene.broker)
    scene.add(100)
    scene.wait_copied()


@connect
@pytest.mark.feature(
    "A source, each record once, while a worker is killed and the broker goes down"
)
def test_source(scene: Scene) -> None:
    assert scene.values(LINES) == [line.encode() for line in scene.lines]


@connect
@pytest.mark.feature("A sink connector goes on where its group was")
def test_sink(scene: Scene) -> None:
    assert list(dict.fromkeys(scene.out.read_text().splitlines())) == scene.lines


@connect
@pytest.mark.feature("Workers create their topics compacted")
def test_internal_topics(scene: Scene) -> None:
    admin = ConfluentAdmin(scene.address)
    for kind, partitions in (("config", 1), ("offset", 2), ("status", 2)):
        topic = f"connect-{kind}"
        assert admin.describe_config("topic", topic)["cleanup.policy"].value == "compact"
        assert len(admin.describe_topic(topic)) == partitions


@mirror_maker
@pytest.mark.feature("A topic is mirrored exactly once, with its partitions and settings")
def test_mirror(scene: Scene) -> None:
    original = read_records(scene.source, scene.topic)
    copied = read_records(scene.address, scene.mirrored)
    content = [(one.partition, one.key, one.value, one.timestamp_ms) for one in original]
    assert [(one.partition, one.key, one.value, one.timestamp_ms) for one in copied] == content
    setting = ConfluentAdmin(scene.address).describe_config("topic", scene.mirrored)["retention.ms"]
    assert setting.value == "987654321"


@mirror_maker
@pytest.mark.feature("A group's offsets are translated: its readers go on with what they had not")
def test_group_offsets(scene: Scene) -> None:
    read = {value for _, value in scene.orders[:READ_BEFORE]}
    for partition, offset in enumerate(scene.translated()):
        records = read_records(scene.address, scene.mirrored, partition=partition)
        left_out = {one.value for one in records if one.offset < offset}
        assert left_out and left_out <= read


@connect
@pytest.mark.feature("Pause, resume, restart, stop, reset offsets, delete a connector")
def test_lifecycle(scene: Scene) -> None:
    connect = scene.connect
    connect.insist("PUT", "/connectors/file/pause")
    connect.wait_state("file", state="PAUSED")
    connect.insist("PUT", "/connectors/file/resume")
    connect.wait_state("file")
    connect.insist("POST", "/connectors/file/restart?includeTasks=true")
    connect.wait_state("file")
    scene.add(10)
    scene.wait_copied()
    assert scene.values(LINES) == [line.encode() for line in scene.lines]
    for name in ("file", "sink"):
        connect.insist("PUT", f"/connectors/{name}/stop")
        connect.wait_state(name, state="STOPPED")
        assert connect.insist("GET", f"/connectors/{name}/offsets")["offsets"]
        connect.insist("DELETE", f"/connectors/{name}/offsets")
        assert connect.insist("GET", f"/connectors/{name}/offsets") == {"offsets": []}
        connect.insist("DELETE", f"/connectors/{name}")
    wait_until(lambda: set(connect.insist("GET", "/connectors")) == {"mirror", "checkpoint"})
