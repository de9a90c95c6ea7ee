"""Kafka Streams: groups of the streams protocol (KIP-1071).

That is `group.protocol=streams`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.conformance.clients.admin_confluent import ConfluentAdmin
from tests.conformance.conftest import BROKER_SETTINGS
from tests.conformance.own_broker import bring_down_and_up, own_broker
from tests.conformance.streams_shop import APPLICATION, Shop
from tests.patience import wait_until
from tools.tool_host import shared_tool_host

pytestmark = [pytest.mark.java, pytest.mark.client("Kafka Streams")]
TOOL = pytest.mark.client("kafka-streams-groups")

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
RESET = (
    *("--reset-offsets", "--group", APPLICATION, "--input-topic", "orders"),
    *("--to-earliest", "--execute"),
)


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


def _rows(done: subprocess.CompletedProcess[str], header: int = 1) -> list[str]:
    """What the tool prints, a space between two columns, without the line of their names."""
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    return [line for line in lines if line][header:]


def _lags(shop: Shop) -> list[str]:
    return [row.split()[-1] for row in _rows(_tool(shop, "--describe", "--group", APPLICATION))]


@pytest.mark.feature("Each record once while an instance is killed")
def test_each_record_once(shop: Shop) -> None:
    assert sorted(shop.pairs("copies")) == sorted(shop.orders.items())
    assert shop.last("totals") == shop.expected_totals()


@pytest.mark.feature("The broker makes the internal topics, as the topology says")
def test_internal_topics(shop: Shop) -> None:
    admin = ConfluentAdmin(shop.address)
    expected = {
        f"{APPLICATION}-by-customer-repartition": "delete",
        f"{APPLICATION}-names-changelog": "compact",
        f"{APPLICATION}-sums-changelog": "compact",
        f"{APPLICATION}-counts-changelog": "compact,delete",
    }
    for topic, policy in expected.items():
        assert admin.describe_config("topic", topic)["cleanup.policy"].value == policy, topic


@TOOL
@pytest.mark.feature("--list; --describe: members, tasks and lag")
def test_describe(shop: Shop) -> None:
    """Each instance has half of the tasks, and a standby of what the other has of the stores."""

    def members() -> list[str]:
        return _rows(_tool(shop, "--describe", "--group", APPLICATION, "--members", "--verbose"))

    def shared() -> bool:
        return sum("TARGET-STANDBY: 1:[" in one for one in members()) == 2

    wait_until(shared)
    wait_until(lambda: _rows(_tool(shop, "--list", "--state")) == [f"{APPLICATION} Stable"])
    assert _rows(_tool(shop, "--list"), header=0) == [APPLICATION]
    standing = _rows(_tool(shop, "--describe", "--group", APPLICATION, "--state"))
    assert standing[0].endswith("Stable 2")
    wait_until(lambda: _lags(shop) == ["0"] * 6)


@TOOL
@pytest.mark.feature("--reset-offsets and --delete are refused while the group has members")
def test_refusals(shop: Shop) -> None:
    reset = _tool(shop, *RESET)
    assert "can only be reset if the group 'order-totals' is inactive" in reset.stdout
    assert "is not EMPTY" in _tool(shop, "--delete", "--group", APPLICATION).stdout


@TOOL
@pytest.mark.feature("--reset-offsets, --delete-offsets, --delete")
def test_reset_and_delete(shop: Shop) -> None:
    shop.close()
    wait_until(lambda: _rows(_tool(shop, "--list", "--state")) == [f"{APPLICATION} Empty"])
    assert _rows(_tool(shop, *RESET)) == [f"{APPLICATION} orders {one} 0" for one in range(2)]
    gone = _tool(shop, "--delete-offsets", "--group", APPLICATION, "--input-topic", "customers")
    assert gone.stdout.count("Successful") == 2
    done = _tool(shop, "--delete", "--group", APPLICATION)
    assert "was successful" in done.stdout
    assert _rows(_tool(shop, "--list"), header=0) == []
