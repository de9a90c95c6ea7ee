"""Certificates change while clients are connected: by a new file, and by a setting."""

from __future__ import annotations

import socket
import ssl
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from penstock.testing.broker import Broker
from penstock.testing.nursery import Order
from penstock.testing.port import HOST
from tests.patience import wait_until
from tests.security.tls_kit import (
    API_VERSIONS,
    PATIENCE_S,
    Keys,
    address_of,
    servers_of,
    tls_broker,
)


class MeasuredBroker(Broker):
    def _order(self) -> Order:
        return replace(super()._order(), metrics=f"{HOST}:0")


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path / "keys")


@pytest.fixture
def broker(tmp_path: Path, keys: Keys) -> Iterator[Broker]:
    made = tls_broker(tmp_path, keys, {})
    with MeasuredBroker(made.data_dir, made.settings) as running:
        yield running


def shown(broker: Broker, keys: Keys, listener: str = "SSL") -> str:
    """The serial number of the certificate that a new connection gets."""
    address = address_of(broker, listener)
    with (
        socket.create_connection(address, PATIENCE_S) as raw,
        keys.context(keys.client).wrap_socket(raw, server_hostname=HOST) as sock,
    ):
        certificate = sock.getpeercert()
        assert certificate is not None
        return str(certificate["serialNumber"])


def metric(broker: Broker, name: str, listener: str = "SSL") -> float:
    with urllib.request.urlopen(f"http://{broker.metrics}/metrics", timeout=PATIENCE_S) as page:
        text = page.read().decode()
    line = f'{name}{{listener="{listener}"}} '
    return float(next(each for each in text.splitlines() if each.startswith(line)).split()[-1])


def test_a_changed_file_is_taken_and_a_bad_one_refused(broker: Broker, keys: Keys) -> None:
    first = shown(broker, keys)
    assert 364 < metric(broker, "penstock_tls_certificate_days_left") < 366
    with (
        socket.create_connection(address_of(broker, "SSL"), PATIENCE_S) as raw,
        keys.context().wrap_socket(raw, server_hostname=HOST) as old,
    ):
        hosts = ("localhost", HOST)
        issued = keys.authority.issue("node", hosts=hosts, valid=timedelta(days=10))
        keys.write("node.pem", issued.keystore)
        wait_until(lambda: shown(broker, keys) != first, "the new certificate is not taken")
        second = shown(broker, keys)
        assert 9 < metric(broker, "penstock_tls_certificate_days_left") < 11

        keys.write("node.pem", issued.keystore[:-300])
        refused = "penstock_tls_certificates_refused"
        wait_until(lambda: metric(broker, refused) == 1, "not counted")
        other_name = keys.authority.issue("mallory", hosts=hosts)
        keys.write("node.pem", other_name.keystore)
        wait_until(lambda: metric(broker, refused) == 2, "another name is taken")
        assert "Keystore DistinguishedName does not match" in broker.log
        assert shown(broker, keys) == second
        said = [line for line in broker.log.splitlines() if "the old ones stay in force" in line]
        # One line for each of three listeners and each of the two files.
        assert len(said) == 6

        # Whoever was connected before all that still is.
        old.settimeout(PATIENCE_S)
        old.sendall(API_VERSIONS)
        assert old.recv(8)


def test_a_setting_is_taken_and_a_bad_one_refused(broker: Broker, keys: Keys) -> None:
    admin = AdminClient(keys.librdkafka() | {"bootstrap.servers": servers_of(broker, "SSL")})
    own = "listener.name.ssl.ssl.keystore.location"

    def alter(name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
        (future,) = admin.incremental_alter_configs([resource]).values()
        future.result(PATIENCE_S)

    first, mutual = shown(broker, keys), shown(broker, keys, "MUTUAL")
    other = keys.write(
        "other.pem", keys.authority.issue("node", hosts=("localhost", HOST)).keystore
    )
    alter(own, str(other))
    wait_until(lambda: shown(broker, keys) != first, "the new certificate is not taken")
    assert shown(broker, keys, "MUTUAL") == mutual

    second = shown(broker, keys)
    with pytest.raises(KafkaException, match="where one is expected"):
        alter(own, str(keys.write("empty.pem", "nothing")))
    with pytest.raises(KafkaException, match="only per-listener using the listener prefix"):
        alter("ssl.keystore.location", str(other))
    assert shown(broker, keys) == second


def test_a_trusted_authority_can_be_replaced(broker: Broker, keys: Keys, tmp_path: Path) -> None:
    """Whoever was let in by the old one is not let in again."""
    other = Keys(tmp_path / "other")
    newcomer = keys.context(other.client)
    address = address_of(broker, "MUTUAL")

    def is_let_in(context: ssl.SSLContext) -> bool:
        try:
            with (
                socket.create_connection(address, PATIENCE_S) as raw,
                context.wrap_socket(raw, server_hostname=HOST) as sock,
            ):
                sock.settimeout(PATIENCE_S)
                sock.sendall(API_VERSIONS)
                return bool(sock.recv(8))
        except (ssl.SSLError, ConnectionError):
            return False

    assert is_let_in(keys.context(keys.client)) and not is_let_in(newcomer)
    keys.write("ca.pem", other.authority.certificate)
    wait_until(lambda: is_let_in(newcomer), "the new authority is not trusted")
    keys.write("ca.pem", keys.authority.certificate)
    wait_until(lambda: not is_let_in(newcomer), "the authority is still trusted")
