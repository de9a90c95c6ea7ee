"""Kafka Streams."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from penstock.testing.record import create_topic, produce_records, read_records
from tests.conformance.clients.admin_confluent import ConfluentAdmin
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.conftest import BROKER_SETTINGS, START_SECONDS, wait_until
from tests.conformance.own_broker import OwnBroker, bring_down_and_up, own_broker
from tools.apache_kafka import start_program
from tools.tool_host import shared_tool_host

pytestmark = [pytest.mark.java, pytest.mark.client("Kafka Streams")]

SOURCE = Path(__file__).parent / "java" / "OrderTotals.java"
APPLICATION = "order-totals"
CUSTOMERS = 7
SETTINGS = BROKER_SETTINGS | {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.min.session.timeout.ms": "1000",
}
STREAMS_SETTINGS = {
    "application.id": APPLICATION,
    "processing.guarantee": "exactly_once_v2",
    "num.standby.replicas": "1",
    "commit.interval.ms": "100",
    "repartition.purge.interval.ms": "100",
    "statestore.cache.max.bytes": "0",
    "consumer.auto.offset.reset": "earliest",
    "consumer.session.timeout.ms": "3000",
    "consumer.heartbeat.interval.ms": "300",
}
# As Java's producer places keys: tables that are joined have to agree on that.
LIKE_JAVA = {"partitioner": "murmur2_random"}
NAMES = {f"c{number}": f"Customer {number}" for number in range(CUSTOMERS)}


@dataclass
class Shop:
    """Orders that come in, and instances of the application that work on them."""

    broker: OwnBroker
    folder: Path
    orders: dict[str, str] = field(default_factory=dict)
    instances: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return self.broker.bootstrap_servers

    def open(self, name: str, **more: str) -> None:
        own = {"bootstrap.servers": self.address, "state.dir": str(self.folder / name)}
        chosen = own | STREAMS_SETTINGS | {key.replace("_", "."): more[key] for key in more}
        words = [f"{key}={value}" for key, value in chosen.items()]
        self.instances[name] = start_program(str(SOURCE), words, self.folder / f"{name}.out")

    def kill(self, name: str) -> None:
        self.instances[name].kill()
        self.instances.pop(name).communicate()

    def close(self) -> None:
        for instance in self.instances.values():
            assert instance.stdin is not None
            instance.stdin.close()
        for name, instance in self.instances.items():
            try:
                instance.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                instance.kill()
                instance.wait()
                pytest.fail(f"{name} did not end: see {self.folder}")
        self.instances.clear()

    def order(self, count: int) -> None:
        first = len(self.orders)
        numbers = range(first, first + count)
        new = {f"o{n}": f"c{n % CUSTOMERS}:{n}" for n in numbers}
        produce_records(self.address, "orders", new.items(), timeout_s=PATIENCE_SECONDS)
        self.orders |= new

    def wait_done(self) -> None:
        """Instances that were just opened have to start first."""
        wait_until(lambda: self.last("totals") == self.expected_totals(), START_SECONDS)
        wait_until(lambda: len(self.pairs("copies")) >= len(self.orders))

    def expected_totals(self) -> dict[str, str]:
        totals = {}
        for customer, name in NAMES.items():
            amounts = [int(v.split(":")[1]) for v in self.orders.values() if v.startswith(customer)]
            totals[customer] = f"{name}:{len(amounts)}:{sum(amounts)}"
        return totals

    def pairs(self, topic: str) -> list[tuple[str, str]]:
        found = read_records(self.address, topic, timeout_s=PATIENCE_SECONDS)
        return [((one.key or b"").decode(), (one.value or b"").decode()) for one in found]

    def last(self, topic: str) -> dict[str, str]:
        return dict(self.pairs(topic))


@pytest.fixture(scope="module")
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """Two instances at work; each is killed with -9 and comes back, and the broker goes down."""
    folder = tmp_path_factory.mktemp("streams")
    with own_broker(request.config, folder / "data", SETTINGS) as broker:
        shop = Shop(broker, folder)
        for topic in ("orders", "customers", "copies", "totals", "windows"):
            create_topic(shop.address, topic, 2, {}, PATIENCE_SECONDS)
        produce_records(shop.address, "customers", NAMES.items(), settings=LIKE_JAVA)
        try:
            _play(shop)
            yield shop
        finally:
            for name in list(shop.instances):
                shop.kill(name)


def _play(shop: Shop) -> None:
    shop.open("static", group_instance_id="static")
    shop.open("dynamic")
    shop.order(300)
    shop.wait_done()
    # Its tasks go to the other one, where standby copies of its stores are.
    shop.kill("dynamic")
    shop.order(300)
    shop.wait_done()
    shop.open("dynamic")
    shop.order(300)
    bring_down_and_up(shop.broker)
    shop.order(300)
    shop.kill("static")
    shop.open("static", group_instance_id="static")
    shop.order(300)
    shop.wait_done()


@pytest.mark.feature("Each record once while two instances are killed and the broker goes down")
def test_copies(shop: Shop) -> None:
    assert sorted(shop.pairs("copies")) == sorted(shop.orders.items())


@pytest.mark.feature("Totals by key: a repartition, stores with changelogs, a join of two tables")
def test_totals(shop: Shop) -> None:
    assert shop.last("totals") == shop.expected_totals()


@pytest.mark.feature("Counts in windows")
def test_windows(shop: Shop) -> None:
    counted: Counter[str] = Counter()
    for window, count in shop.last("windows").items():
        counted[window.split("@")[0]] += int(count)
    assert counted == Counter(value.split(":")[0] for value in shop.orders.values())


@pytest.mark.feature("Internal topics have the settings they were created with")
def test_internal_topics(shop: Shop) -> None:
    admin = ConfluentAdmin(shop.address)
    expected = {
        f"{APPLICATION}-by-customer-repartition": ("delete", "-1"),
        f"{APPLICATION}-names-changelog": ("compact", None),
        f"{APPLICATION}-sums-changelog": ("compact", None),
        f"{APPLICATION}-counts-changelog": ("compact,delete", "90005000"),
    }
    for topic, (policy, retention) in expected.items():
        found = admin.describe_config("topic", topic)
        assert found["cleanup.policy"].value == policy, topic
        assert retention is None or found["retention.ms"].value == retention, topic


@pytest.mark.feature("What was read of a repartition topic is deleted")
def test_purge(shop: Shop) -> None:
    client = ConfluentClient(shop.address)
    topic = f"{APPLICATION}-by-customer-repartition"

    def purged() -> bool:
        bounds = [client.bounds(topic, partition) for partition in range(2)]
        return all(first > 0 for first, _ in bounds) and any(
            first == following for first, following in bounds
        )

    wait_until(purged)


@pytest.mark.feature(
    "kafka-streams-application-reset: offsets to the start, internal topics deleted"
)
def test_reset(shop: Shop) -> None:
    def reset(*words: str) -> subprocess.CompletedProcess[str]:
        where = ["--bootstrap-server", shop.address, "--application-id", APPLICATION]
        inputs = ["--input-topics", "orders,customers"]
        tool = "kafka-streams-application-reset"
        return shared_tool_host().run(tool, [*where, *inputs, *words])

    refused = reset()
    assert "is still active" in refused.stdout + refused.stderr and refused.returncode != 0
    shop.close()
    done = reset("--force")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Topic: orders Partition: 1 Offset: 0" in done.stdout
    admin = ConfluentAdmin(shop.address)
    wait_until(lambda: not any(name.startswith(APPLICATION) for name in admin.topic_names()))
