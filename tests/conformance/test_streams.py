"""Kafka Streams.

In a group of the classic protocol.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.conformance.clients.admin_confluent import ConfluentAdmin
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.conftest import BROKER_SETTINGS
from tests.conformance.own_broker import bring_down_and_up, own_broker
from tests.conformance.streams_shop import APPLICATION, Shop
from tests.patience import wait_until
from tools.tool_host import shared_tool_host

pytestmark = [pytest.mark.java, pytest.mark.client("Kafka Streams")]

SETTINGS = BROKER_SETTINGS | {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.min.session.timeout.ms": "1000",
}
CLASSIC = {
    "num.standby.replicas": "1",
    "consumer.session.timeout.ms": "3000",
    "consumer.heartbeat.interval.ms": "300",
}


@pytest.fixture(scope="module")
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """Two instances at work; each is killed with -9 and comes back, and the broker goes down."""
    folder = tmp_path_factory.mktemp("streams")
    with own_broker(request.config, folder / "data", SETTINGS) as broker:
        shop = Shop(broker, folder, CLASSIC)
        shop.furnish()
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
