"""Logins on an encrypted listener, of clients and between nodes."""

from __future__ import annotations

import time
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from penstock.testing.cluster import Cluster
from penstock.testing.port import HOST, free_port
from tests.security.sasl_kit import ALICE, BOB, PLAIN_MODULE, SaslBroker, set_password
from tests.security.test_sasl_nodes import MECHANISM, NODE, settings
from tests.security.tls_kit import Keys

PATIENCE_S = 60.0


def test_passwords_over_tls_need_no_permission(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys")
    secured = f"{HOST}:{free_port()}"
    users = f'{PLAIN_MODULE} required user_{BOB[0]}="{BOB[1]}";'
    own = keys.node_settings | {
        "penstock.sasl.plain.unencrypted.listeners": "",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": users,
    }
    broker = SaslBroker(tmp_path, own)
    broker.settings["listeners"] = f"PLAINTEXT://{broker.open},SASL_SSL://{secured}"
    with broker:
        set_password(broker.open, *ALICE)
        for mechanism, user in (("PLAIN", BOB), (MECHANISM, ALICE)):
            producer = Producer(
                broker.client(mechanism, *user)
                | keys.librdkafka(keys.client)
                | {"bootstrap.servers": secured, "security.protocol": "SASL_SSL"}
            )
            producer.produce("t", b"x" * 100_000)
            assert producer.flush(PATIENCE_S) == 0
        told: list[object] = []
        wrong = AdminClient(
            broker.client("PLAIN", BOB[0], "wrong")
            | keys.librdkafka()
            | {
                "bootstrap.servers": secured,
                "security.protocol": "SASL_SSL",
                "error_cb": lambda error: told.append(error.str()),
            }
        )
        deadline = time.monotonic() + PATIENCE_S
        while not told:
            assert time.monotonic() < deadline
            wrong.poll(0.1)
    assert "Invalid username or password" in str(told[0])


def test_nodes_log_in_over_tls(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys")
    own = dict(settings()) | keys.node_settings
    own["listener.security.protocol.map"] = (
        "PLAINTEXT:PLAINTEXT,INTERNAL:SASL_SSL,CONTROLLER:SASL_SSL"
    )
    users = [f"{MECHANISM}=[name={NODE[0]},password={NODE[1]}]"]
    cluster = Cluster(tmp_path / "cluster", nodes=3, settings=own, users=users)
    try:
        cluster.start_all()
        cluster.create_topic("orders")
        cluster.produce("orders", ["one"])
        cluster.wait_in_sync()
    finally:
        cluster.kill_all()
