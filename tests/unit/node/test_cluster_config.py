"""A node's place in a cluster, as settings say it."""

from __future__ import annotations

import pytest

from penstock.model.security_protocol import SecurityProtocol
from penstock.node.address import Address
from penstock.node.cluster_config import ClusterConfig, cluster_config
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError

SHIPPED = {
    "num.network.threads": "3",
    "num.io.threads": "8",
    "socket.send.buffer.bytes": "102400",
    "socket.receive.buffer.bytes": "102400",
    "socket.request.max.bytes": "104857600",
    "num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "log.retention.hours": "168",
    "log.segment.bytes": "1073741824",
    "log.retention.check.interval.ms": "300000",
}
"""What the three files of Apache Kafka's config directory have in common."""
EVERY_PROTOCOL = (
    "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,"
    "SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL"
)
SERVER = SHIPPED | {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "inter.broker.listener.name": "PLAINTEXT",
    "advertised.listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": EVERY_PROTOCOL,
    "log.dirs": "/tmp/kraft-combined-logs",
    "num.recovery.threads.per.data.dir": "2",
}
BROKER = SHIPPED | {
    "process.roles": "broker",
    "node.id": "2",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "PLAINTEXT://localhost:9092",
    "inter.broker.listener.name": "PLAINTEXT",
    "advertised.listeners": "PLAINTEXT://localhost:9092",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": EVERY_PROTOCOL,
    "log.dirs": "/tmp/kraft-broker-logs",
    "num.recovery.threads.per.data.dir": "2",
}
CONTROLLER = SHIPPED | {
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "CONTROLLER://:9093",
    "advertised.listeners": "CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "log.dirs": "/tmp/kraft-controller-logs",
    "num.recovery.threads.per.data.dir": "1",
}


def place(settings: dict[str, str]) -> ClusterConfig:
    return cluster_config(BrokerConfig.load(None, [f"{k}={v}" for k, v in settings.items()]))


def complaint(settings: dict[str, str]) -> str:
    with pytest.raises(SettingError) as refused:
        place(settings)
    said = str(refused.value)
    assert "\n" not in said
    return said


def shown(cluster: ClusterConfig) -> tuple[list[str], list[str]]:
    return (
        [f"{each.name}://{each.host}:{each.port}" for each in cluster.listeners],
        [f"{each.name}://{each.host}:{each.port}" for each in cluster.advertised],
    )


def test_a_combined_node() -> None:
    cluster = place(SERVER)
    assert cluster.is_broker and cluster.is_controller and cluster.names_quorum
    assert cluster.node_id == 1
    assert shown(cluster) == (
        ["PLAINTEXT://:9092", "CONTROLLER://:9093"],
        ["PLAINTEXT://localhost:9092", "CONTROLLER://localhost:9093"],
    )
    assert {each.protocol for each in cluster.listeners} == {SecurityProtocol.PLAINTEXT}
    assert cluster.inter_broker_listener == "PLAINTEXT"
    assert cluster.controller_listener == "CONTROLLER"
    assert cluster.voters == ()
    assert cluster.bootstrap_servers == (Address("localhost", 9093),)
    assert cluster.data_dirs == ("/tmp/kraft-combined-logs",)
    assert cluster.metadata_dir == "/tmp/kraft-combined-logs"
    assert cluster.rack is None


def test_a_broker() -> None:
    cluster = place(BROKER | {"broker.rack": "r1"})
    assert cluster.is_broker and not cluster.is_controller
    assert shown(cluster) == (["PLAINTEXT://localhost:9092"], ["PLAINTEXT://localhost:9092"])
    assert cluster.controller_listener == "CONTROLLER"
    assert cluster.rack == "r1"


def test_a_controller() -> None:
    cluster = place(CONTROLLER)
    assert cluster.is_controller and not cluster.is_broker
    assert shown(cluster) == (["CONTROLLER://:9093"], ["CONTROLLER://localhost:9093"])
    assert cluster.of_brokers(cluster.listeners) == ()


def test_nothing_said_is_a_cluster_of_one() -> None:
    cluster = place({})
    assert cluster.is_broker and cluster.is_controller and not cluster.names_quorum
    assert shown(cluster)[0] == ["PLAINTEXT://:9092"]
    assert cluster.data_dirs == ("penstock-data",)


def test_fixed_voters() -> None:
    voters = "1@a:9093, 2@[::1]:9094,3@c.example:9095"
    cluster = place(SERVER | {"controller.quorum.voters": voters})
    told = ["1@a:9093", "2@[::1]:9094", "3@c.example:9095"]
    assert [str(each) for each in cluster.voters] == told
    assert cluster.voters[1].address == Address("::1", 9094)


def test_several_listeners_by_name() -> None:
    cluster = place(
        SERVER
        | {
            "listeners": "inside://10.0.0.1:9092,OUTSIDE://:9094,CONTROLLER://:9093",
            "advertised.listeners": "OUTSIDE://out.example:19094,INSIDE://in.example:9092",
            "inter.broker.listener.name": "inside",
            "listener.security.protocol.map": (
                "inside:PLAINTEXT,OUTSIDE:plaintext,CONTROLLER:PLAINTEXT"
            ),
        }
    )
    assert shown(cluster)[0] == [
        "INSIDE://10.0.0.1:9092",
        "OUTSIDE://:9094",
        "CONTROLLER://:9093",
    ]
    assert [each.name for each in cluster.of_brokers(cluster.advertised)] == ["OUTSIDE", "INSIDE"]
    assert cluster.inter_broker_listener == "INSIDE"
    (own,) = cluster.of_controllers(cluster.advertised)
    assert own.told_address("this-host", 9093) == Address("this-host", 9093)


def test_what_is_told_where_nothing_is_advertised() -> None:
    settings = {k: v for k, v in SERVER.items() if k != "advertised.listeners"}
    cluster = place(settings | {"listeners": "PLAINTEXT://0.0.0.0:0,CONTROLLER://h:9093"})
    client, controller = cluster.advertised
    assert client.bind_address == Address("0.0.0.0", 0)
    assert client.told_address("this-host", 41000) == Address("this-host", 41000)
    assert controller.told_address("this-host", 9093) == Address("h", 9093)


def test_an_ipv4_and_an_ipv6_listener_may_share_a_port() -> None:
    both = "PLAINTEXT://127.0.0.1:9092,OTHER://[::1]:9092,CONTROLLER://:9093"
    mapped = "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT,CONTROLLER:PLAINTEXT"
    cluster = place(SERVER | {"listeners": both, "listener.security.protocol.map": mapped})
    assert [each.port for each in cluster.listeners] == [9092, 9092, 9093]


def test_directories() -> None:
    cluster = place(SERVER | {"log.dirs": "/b,/a", "metadata.log.dir": "/c"})
    assert (cluster.data_dirs, cluster.metadata_dir) == (("/b", "/a"), "/c")
    assert cluster.directories == ("/a", "/b", "/c")
    assert place(SERVER | {"log.dirs": "/b,/a"}).metadata_dir == "/b"
    assert place({"log.dir": "/d"}).directories == ("/d",)


UNMAPPED = {k: v for k, v in SERVER.items() if k != "listener.security.protocol.map"}


def test_controllers_need_no_mapping_where_all_is_plain_text() -> None:
    assert place(UNMAPPED | {"controller.listener.names": "CONTROLLER"}).controller_listener
    encrypted = UNMAPPED | {"listeners": "SSL://:9092,CONTROLLER://:9093"}
    assert "listener CONTROLLER is not in listener.security.protocol.map" in complaint(encrypted)


@pytest.mark.parametrize(
    ("base", "settings", "said"),
    [
        (SERVER, {"listeners": "PLAINTEXT://:9092"}, "names CONTROLLER, which listeners does not"),
        (SERVER, {"listeners": "CONTROLLER://:9093"}, "listeners names none for clients"),
        (SERVER, {"listeners": "PLAINTEXT://:1,CONTROLLER://:1"}, "the same port 1"),
        (SERVER, {"listeners": "PLAINTEXT://:1,plaintext://:2"}, "names PLAINTEXT twice"),
        (SERVER, {"listeners": ":9092,CONTROLLER://:9093"}, "expected NAME://HOST:PORT"),
        (SERVER, {"listeners": "PLAINTEXT://a b:1,CONTROLLER://:2"}, "'a b' is no name of a host"),
        (SERVER, {"listeners": "PLAINTEXT://:99999,CONTROLLER://:1"}, "expected NAME://HOST:PORT"),
        (SERVER, {"listeners": "X://:9092,CONTROLLER://:9093"}, "add X:PLAINTEXT"),
        (SERVER, {"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, "name this host"),
        (SERVER, {"advertised.listeners": "CONTROLLER://h:1"}, "names none for clients"),
        (BROKER, {"advertised.listeners": "SSL://h:1"}, "names SSL, which listeners does not"),
        (
            SERVER,
            {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:SASL_SSL"},
            "listener CONTROLLER: sasl.enabled.mechanisms is GSSAPI",
        ),
        (BROKER, {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT"}, "CONTROLLER:PLAINTEXT"),
        (SERVER, {"listener.security.protocol.map": "PLAINTEXT:TLS"}, "expected NAME:PROTOCOL"),
        (SERVER, {"inter.broker.listener.name": "CONTROLLER"}, "name to one of PLAINTEXT"),
        (SERVER, {"inter.broker.listener.name": "NONE"}, "add NONE:PLAINTEXT"),
        (CONTROLLER, {"inter.broker.listener.name": "CONTROLLER"}, "listener of controllers"),
        (SERVER, {"security.inter.broker.protocol": "PLAINTEXT"}, "keep inter.broker.listener"),
        (SERVER, {"early.start.listeners": "X"}, "name one of PLAINTEXT, CONTROLLER"),
        (BROKER, {"listeners": "PLAINTEXT://:1,CONTROLLER://:2"}, "remove it from listeners"),
        (BROKER, {"controller.quorum.voters": "2@h:1"}, "set another node.id"),
        (BROKER, {"controller.quorum.auto.join.enable": "true"}, "remove it"),
        (CONTROLLER, {"listeners": "CONTROLLER://:1,PLAINTEXT://:2"}, "serves no clients"),
        (CONTROLLER, {"controller.quorum.voters": "2@h:1"}, "names 2@h:1, and not this node"),
        (SERVER, {"controller.quorum.voters": "1@h:1,1@g:1"}, "names node 1 twice"),
        (SERVER, {"controller.quorum.voters": "1h:1"}, "expected ID@HOST:PORT"),
        (SERVER, {"controller.quorum.voters": "-1@h:1"}, "expected ID@HOST:PORT"),
        (SERVER, {"controller.quorum.voters": "1@h"}, "expected ID@HOST:PORT"),
        (SERVER, {"controller.quorum.voters": "1@0.0.0.0:1"}, "nobody can connect there"),
        (SERVER, {"controller.quorum.bootstrap.servers": "h"}, "expected HOST:PORT"),
        (SERVER, {"controller.quorum.bootstrap.servers": ":1"}, "nobody can connect there"),
        (SERVER, {"log.dirs": "/a,/b,/a"}, "names /a twice"),
        ({}, {"process.roles": "controller"}, "set controller.quorum.bootstrap.servers"),
        ({}, {"controller.quorum.voters": "1@h:1"}, "node.id is not set"),
        (
            {},
            {"node.id": "1", "controller.quorum.voters": "1@h:1"},
            "controller.listener.names is not set",
        ),
    ],
)
def test_what_does_not_fit(base: dict[str, str], settings: dict[str, str], said: str) -> None:
    assert said in complaint(base | settings)
