"""Three nodes that log in to each other, brokers and controllers, from their first start on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.vote import VoteRequest
from penstock.testing.cluster import Cluster
from penstock.testing.port import HOST
from tests.node.wire_kit import Wire
from tests.security.sasl_kit import SaslWire, is_served, set_password

MECHANISM = "SCRAM-SHA-256"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
NODE = ("node", "of-nodes")


def settings(password: str = NODE[1]) -> Mapping[str, object]:
    jaas = f'{SCRAM_MODULE} required username="{NODE[0]}" password="{password}";'
    return {
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,INTERNAL:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT"
        ),
        "sasl.enabled.mechanisms": MECHANISM,
        "sasl.mechanism.inter.broker.protocol": MECHANISM,
        "sasl.mechanism.controller.protocol": MECHANISM,
        f"listener.name.internal.{MECHANISM.lower()}.sasl.jaas.config": jaas,
        f"listener.name.controller.{MECHANISM.lower()}.sasl.jaas.config": jaas,
    }


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    users = [f"{MECHANISM}=[name={NODE[0]},password={NODE[1]}]"]
    running = Cluster(tmp_path / "cluster", nodes=3, settings=settings(), users=users)
    try:
        running.start_all()
        yield running
    finally:
        running.kill_all()


def test_nodes_log_in_to_each_other_and_nobody_else_is_let_in(cluster: Cluster) -> None:
    """Also when all were killed, and the password was changed before that."""
    cluster.create_topic("orders")
    cluster.produce("orders", ["one", "two"])
    cluster.wait_in_sync()
    for node in cluster.nodes.values():
        for port in (node.ports.brokers, node.ports.controllers):
            assert_closed_to_strangers(f"{HOST}:{port}")
    set_password(cluster.bootstrap_servers, NODE[0], "another")
    cluster.kill_all()
    for node in cluster.nodes.values():
        node.settings.update({key: str(value) for key, value in settings("another").items()})
    cluster.start_all()
    cluster.wait_in_sync()
    cluster.produce("orders", ["three"])
    assert [each.value for each in cluster.read("orders", count=3)] == [b"one", b"two", b"three"]


def assert_closed_to_strangers(address: str) -> None:
    with Wire(address) as wire:
        assert not is_served(wire, VoteRequest(), 2)
    with SaslWire(address) as wire:
        wire.call(ApiVersionsRequest(), 0)
        assert wire.login_scram(MECHANISM, NODE[0], "guess").error_code == 58
    with SaslWire(address) as wire:
        assert wire.login_scram(MECHANISM, *NODE).error_code == 0
