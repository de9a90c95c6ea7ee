"""Commands with connections of their own, on a node with TLS, certificates and logins."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.testing.broker import Broker
from penstock.testing.nursery import Order
from penstock.testing.port import HOST, free_port
from tests.security.sasl_kit import ALICE, set_password
from tests.security.tls_kit import Keys
from tests.unit.cli.conftest import Command

OWN_CONNECTIONS = (
    ("log-dirs",),
    ("quorum",),
    ("brokers", "list"),
    ("brokers", "describe", "1"),
    ("cluster", "info"),
)


class SecuredBroker(Broker):
    """Plain text for whoever sets it up; TLS with a certificate; TLS with a login."""

    def __init__(self, folder: Path, keys: Keys) -> None:
        self.open, self.mutual, self.login = (f"{HOST}:{free_port()}" for _ in range(3))
        listeners = f"PLAINTEXT://{self.open},SSL://{self.mutual},SASL_SSL://{self.login}"
        settings: dict[str, object] = {
            "listeners": listeners,
            "listener.name.ssl.ssl.client.auth": "required",
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        }
        super().__init__(folder / "data", settings | keys.node_settings)

    def _order(self) -> Order:
        return Order(data_dir=str(self.data_dir), log=str(self.log_file), settings=self.settings)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, keys: Keys) -> Iterator[SecuredBroker]:
    with SecuredBroker(tmp_path_factory.mktemp("secured"), keys) as running:
        set_password(running.open, *ALICE)
        yield running


def options(settings: dict[str, str]) -> list[str]:
    return [word for key, value in settings.items() for word in ("-X", f"{key}={value}")]


@pytest.mark.parametrize("command", OWN_CONNECTIONS, ids=" ".join)
def test_they_show_certificates_and_log_in(
    nowhere: Command, broker: SecuredBroker, keys: Keys, command: tuple[str, ...]
) -> None:
    by_certificate = replace(nowhere, servers=broker.mutual)
    said = by_certificate.run(*options(keys.librdkafka(keys.client)), *command).lines
    by_login = replace(nowhere, servers=broker.login)
    login = keys.librdkafka() | {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": ALICE[0],
        "sasl.password": ALICE[1],
    }
    assert len(by_login.run(*options(login), *command).lines) == len(said) > 0


def test_what_is_wrong_is_said(nowhere: Command, broker: SecuredBroker, keys: Keys) -> None:
    by_login = replace(nowhere, servers=broker.login)
    login = keys.librdkafka() | {"security.protocol": "SASL_SSL", "sasl.username": "eve"}
    wrong = login | {"sasl.mechanism": "SCRAM-SHA-512", "sasl.password": "guessed"}
    assert "the login is refused" in by_login.fail(*options(wrong), "quorum")


@pytest.mark.parametrize("words", [("topics", "list"), ("lag",)], ids=" ".join)
def test_who_speaks_in_the_wrong_way_is_told(
    nowhere: Command, broker: SecuredBroker, keys: Keys, words: tuple[str, ...]
) -> None:
    over_tls = options(keys.librdkafka())
    with socket.create_server((HOST, 0)) as silent:
        somebody = f"{HOST}:{silent.getsockname()[1]}"
        for servers, settings, said in (
            (broker.mutual, [], f"{broker.mutual} wants TLS; add -X security.protocol=ssl"),
            (broker.open, over_tls, f"{broker.open} does not speak TLS"),
            (broker.mutual, over_tls, "does it want yours (ssl.certificate.location)?"),
            (somebody, [], f"no broker answers at {somebody}, though something listens there"),
        ):
            command = replace(nowhere, servers=servers)
            assert said in command.fail("--timeout", "2", *settings, *words)
    wrong = ("-X", "security.protocol=tls", "lag")
    assert "security.protocol=tls is not known" in nowhere.fail(*wrong, code=2)
