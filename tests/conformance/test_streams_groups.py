"""Kafka Streams in a group of the streams protocol (KIP-1071): `group.protocol=streams`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.conformance.conftest import BROKER_SETTINGS
from tests.conformance.own_broker import bring_down_and_up, own_broker
from tests.conformance.streams_shop import Shop
from tools.tool_host import shared_tool_host

pytestmark = [pytest.mark.java, pytest.mark.client("Kafka Streams")]

SETTINGS = BROKER_SETTINGS | {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.streams.num.standby.replicas": "1",
    "group.streams.initial.rebalance.delay.ms": "500",
    "group.streams.heartbeat.interval.ms": "300",
    "group.streams.min.heartbeat.interval.ms": "300",
    "group.streams.session.timeout.ms": "3000",
    "group.streams.min.session.timeout.ms": "3000",
    "group.streams.assignment.interval.ms": "100",
}
BY_STREAMS = {"group.protocol": "streams"}


@pytest.fixture(scope="module")
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """Two instances at work; one is killed with -9 and comes back, and the broker goes down."""
    folder = tmp_path_factory.mktemp("streams-groups")
    with own_broker(request.config, folder / "data", SETTINGS) as broker:
        shop = Shop(broker, folder, BY_STREAMS)
        shop.furnish()
        try:
            _play(shop)
            yield shop
        finally:
            for name in list(shop.instances):
                shop.kill(name)


def _play(shop: Shop) -> None:
    shop.open("first")
    shop.open("second")
    shop.order(300)
    shop.wait_done()
    # Its tasks go to the other one, where standby copies of its stores are.
    shop.kill("second")
    shop.order(300)
    shop.wait_done()
    shop.open("second")
    shop.order(300)
    bring_down_and_up(shop.broker)
    shop.order(300)
    shop.wait_done()


def _tool(shop: Shop, *words: str) -> subprocess.CompletedProcess[str]:
    where = ["--bootstrap-server", shop.address]
    return shared_tool_host().run("kafka-streams-groups", [*where, *words])


@pytest.mark.feature("Streams groups: each record once while an instance is killed")
def test_each_record_once(shop: Shop) -> None:
    assert sorted(shop.pairs("copies")) == sorted(shop.orders.items())
    assert shop.last("totals") == shop.expected_totals()
