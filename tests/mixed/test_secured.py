"""Apache Kafka's broker beside ours in one secured cluster: brokers log in to each other over TLS,
controllers are shown certificates, clients log in, and ACLs hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.cli.acl.argument import EntryOptions, ResourceOptions, entries_of
from penstock.cli.acl.entry import add_acls, read_acls
from penstock.cli.acl.role import ROLE, add_grants, give
from penstock.cli.cluster import Cluster
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.cli.user import list_users, remove_user, set_password
from penstock.testing.port import HOST, free_port
from tests.mixed.mixed_kit import KafkaNode, Kind, MixedCluster, PenstockNode
from tests.patience import wait_until
from tests.security.tls_kit import Keys

pytestmark = pytest.mark.java

MECHANISM = "SCRAM-SHA-512"
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
OF_NODES = "of-nodes"
PATIENCE_S = 120


def settings(keys: Keys) -> dict[str, str]:
    """The open listener is for the test."""
    name = MECHANISM.lower()
    return {key: str(value) for key, value in keys.node_settings.items()} | {
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,INTERNAL:SASL_SSL,CLIENTS:SASL_PLAINTEXT,CONTROLLER:SSL"
        ),
        "inter.broker.listener.name": "INTERNAL",
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1/,DEFAULT",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:node;User:ANONYMOUS",
        "sasl.enabled.mechanisms": MECHANISM,
        "sasl.mechanism.inter.broker.protocol": MECHANISM,
        f"listener.name.internal.{name}.sasl.jaas.config": (
            f'{MODULE} required username="node" password="{OF_NODES}";'
        ),
        f"listener.name.clients.{name}.sasl.jaas.config": f"{MODULE} required;",
        "offsets.topic.replication.factor": "2",
        "offsets.topic.num.partitions": "2",
    }


class Secured:
    def __init__(self, cluster: MixedCluster) -> None:
        self.clients: dict[int, str] = {}
        self.internal: dict[int, int] = {}
        self.cluster = cluster
        for number, node in cluster.brokers.items():
            self.internal[number] = free_port()
            self.clients[number] = f"{HOST}:{free_port()}"
            names = (
                f"PLAINTEXT://{node.place.address},INTERNAL://{HOST}:{self.internal[number]},"
                f"CLIENTS://{self.clients[number]}"
            )
            node.settings |= {"listeners": names, "advertised.listeners": names}

    def link(self, number: int) -> Link:
        return Link(self.admin(number))

    def admin(self, number: int) -> Cluster:
        return Cluster(Target(self.cluster.brokers[number].bootstrap_servers), timeout_s=60)

    def client(self, name: str, password: str) -> dict[str, str]:
        return {
            "bootstrap.servers": ",".join(self.clients.values()),
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": MECHANISM,
            "sasl.username": name,
            "sasl.password": password,
        }


OURS, KAFKAS = 2, 3


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    controllers: dict[int, Kind] = {1: PenstockNode}
    brokers: dict[int, Kind] = {OURS: PenstockNode, KAFKAS: KafkaNode}
    own = settings(Keys(folder / "keys"))
    users = (f"{MECHANISM}=[name=node,password={OF_NODES}]",)
    cluster = MixedCluster(folder, controllers, brokers, own, users=users)
    made = Secured(cluster)
    with cluster:
        yield made


def produce(client: dict[str, str], topic: str, partition: int) -> int:
    errors: list[int] = []
    producer = Producer(client | {"acks": "all", "message.timeout.ms": PATIENCE_S * 1000})
    producer.produce(
        topic,
        b"x",
        partition=partition,
        on_delivery=lambda error, _: errors.append(error.code() if error else 0),
    )
    producer.flush(PATIENCE_S)
    return errors[0]


def test_users_grants_and_roles_hold_on_brokers_of_both_kinds(secured: Secured) -> None:
    """Asked of either: what one is told, the other one knows."""
    set_password(secured.admin(KAFKAS), "alice", "of-alice", [MECHANISM], 4096)
    set_password(secured.admin(OURS), "bob", "of-bob", [MECHANISM], 4096)
    for number in (OURS, KAFKAS):
        wait_until(
            lambda number=number: (
                {each.name for each in list_users(secured.admin(number))}
                == {"alice", "bob", "node"}
            ),
            "users are not known everywhere",
        )
    admin = AdminClient({"bootstrap.servers": secured.cluster.bootstrap_servers})
    placed = {0: [OURS, KAFKAS], 1: [KAFKAS, OURS]}
    new = NewTopic("orders", num_partitions=2, replica_assignment=[placed[0], placed[1]])
    admin.create_topics([new])["orders"].result(PATIENCE_S)

    alice, bob = secured.client("alice", "of-alice"), secured.client("bob", "of-bob")
    topic, how = ResourceOptions(topic="orders"), EntryOptions()
    writing = entries_of(f"{ROLE}writer", ["write"], topic, how)
    add_grants(secured.link(KAFKAS), "writer", writing)
    give(secured.link(OURS), "writer", ["User:alice"])
    reading = entries_of("User:alice", ["read"], topic, how)
    group = ResourceOptions(group="readers")
    add_acls(secured.link(OURS), [*reading, *entries_of("User:alice", ["read"], group, how)])
    for number in (OURS, KAFKAS):
        wait_until(lambda number=number: len(read_acls(secured.link(number))) == 5, "not all ACLs")
    for partition in placed:
        wait_until(lambda partition=partition: produce(alice, "orders", partition) == 0, "not yet")
        assert produce(bob, "orders", partition) == KafkaError.TOPIC_AUTHORIZATION_FAILED

    with closing(
        Consumer(alice | {"group.id": "readers", "auto.offset.reset": "earliest"})
    ) as consumer:
        consumer.subscribe(["orders"])
        seen = set()
        while seen != {0, 1}:
            message = consumer.poll(PATIENCE_S)
            assert message is not None and message.error() is None, message and message.error()
            seen.add(message.partition())

    assert remove_user(secured.admin(KAFKAS), "bob", None) == [MECHANISM]


def test_nobody_speaks_to_nodes_as_a_node(secured: Secured) -> None:
    """Without the password of nodes, nor, to controllers, without a certificate."""
    guess = secured.client("node", "a guess") | {"security.protocol": "sasl_ssl"}
    for port in secured.internal.values():
        told = refused(guess | {"bootstrap.servers": f"{HOST}:{port}"})
        assert told.code() == KafkaError._AUTHENTICATION
    port = secured.cluster.controllers[1].place.port
    assert refused({"bootstrap.servers": f"{HOST}:{port}", "security.protocol": "ssl"})


def refused(client: dict[str, str]) -> KafkaError:
    errors: list[KafkaError] = []
    own = {"enable.ssl.certificate.verification": "false", "log_level": "0"}
    asked = AdminClient(client | own | {"error_cb": errors.append})
    wait_until(lambda: bool(asked.poll(0.1) or errors), "let in")
    return errors[0]
