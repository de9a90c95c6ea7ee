"""Consumer groups: when the broker ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient, NewTopic

from tests.conformance.clients.admin_confluent import answer
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.java_host import JavaHost
from tests.conformance.clients.member import Committed
from tests.conformance.clients.membership import MEMBERS, Membership, places, wait_shared
from tests.conformance.clients.record import Record
from tests.conformance.conftest import BROKER_SETTINGS, wait_for_leaders
from tests.conformance.own_broker import own_broker
from tests.patience import wait_until

# kafka-python waits up to 36 s before it tries again a node that refused it several times.
RECONNECT_PATIENCE_S = 120.0
SETTINGS = BROKER_SETTINGS | {"offsets.topic.num.partitions": "1"}


@pytest.fixture(scope="module")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A broker of its own, to be ended."""
    with own_broker(
        request.config, tmp_path_factory.mktemp("restarted") / "data", SETTINGS
    ) as broker:
        yield broker


@pytest.fixture
def clients(broker: Any, java_host: JavaHost) -> Iterator[Membership]:
    membership = Membership(broker.bootstrap_servers, java_host)
    yield membership
    membership.close()


def create(broker: Any, name: str) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    admin.create_topics([NewTopic(name, 2)])[name].result(30)
    wait_for_leaders(admin, name, 2)
    records = [Record(b"%d" % n, partition=n % 2) for n in range(10)]
    ConfluentClient(broker.bootstrap_servers).produce(name, records)
    return admin


def kill(broker: Any) -> None:
    broker.kill()
    broker.start()


def restart(broker: Any) -> None:
    broker.restart()


@pytest.mark.feature("Acknowledged offsets and members outlive a restart and kill -9")
@pytest.mark.parametrize("end", [restart, kill])
@pytest.mark.client("confluent-kafka")
def test_offsets_survive(
    broker: Any, clients: Membership, topic_name: str, end: Callable[[Any], None]
) -> None:
    admin, group = create(broker, topic_name), f"{topic_name}-group"
    # Longer than a restart takes on a busy machine.
    long = {"session_ms": 120_000, "poll_interval_ms": 120_000}
    member = clients.join("confluent-kafka", group, topic_name, **long)
    wait_until(lambda: len(member.received) == 10)
    member.ask(lambda consumer: consumer.commit({(topic_name, 0): Committed(3, "kept")}))
    wanted = {(topic_name, 0): Committed(3, "kept"), (topic_name, 1): None}
    end(broker)
    assert member.ask(lambda consumer: consumer.committed(places(topic_name, 2))) == wanted
    # The member is still one, in the same generation: it commits on.
    member.ask(lambda consumer: consumer.commit({(topic_name, 1): Committed(4)}))
    request = [ConsumerGroupTopicPartitions(group)]
    found = answer(admin.list_consumer_group_offsets(request)[group]).topic_partitions
    assert {(one.partition, one.offset) for one in found} == {(0, 3), (1, 4)}


@pytest.mark.feature("Members of every client go on after kill -9")
@pytest.mark.parametrize("client", list(MEMBERS))
# aiokafka leaves tasks behind where a connection breaks under it.
def test_members_go_on(broker: Any, clients: Membership, topic_name: str, client: str) -> None:
    go_on(broker, clients, topic_name, client, "classic")


@pytest.mark.feature("Members of the new protocol go on after kill -9")
@pytest.mark.parametrize(
    "client", ["confluent-kafka", pytest.param("Java client", marks=pytest.mark.java)]
)
def test_new_members_go_on(broker: Any, clients: Membership, topic_name: str, client: str) -> None:
    go_on(broker, clients, topic_name, client, "consumer")


def go_on(broker: Any, clients: Membership, topic_name: str, client: str, protocol: str) -> None:
    create(broker, topic_name)
    group = f"{topic_name}-group"
    members = [clients.join(client, group, topic_name, protocol=protocol) for _ in range(2)]
    wait_shared(members, places(topic_name, 2))
    kill(broker)
    records = [Record(b"after", partition=n) for n in range(2)]
    ConfluentClient(broker.bootstrap_servers).produce(topic_name, records, idempotent=True)
    wait_until(
        lambda: sum(one.values().count(b"after") for one in members) >= 2,
        patience_s=RECONNECT_PATIENCE_S,
    )
    wait_shared(members, places(topic_name, 2))
