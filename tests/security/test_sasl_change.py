"""Mechanisms and users of PLAIN that change while the node runs, as `kafka-configs` does it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from penstock.security.plain import plain_token
from tests.security.sasl_kit import ALICE, BOB, PLAIN_MODULE, SaslBroker, SaslWire, sasl_broker

PATIENCE_S = 60
LISTENER = "listener.name.sasl_plaintext"
UNSUPPORTED = 33


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SaslBroker]:
    delay = {"connection.failed.authentication.delay.ms": 1}
    with sasl_broker(tmp_path_factory.mktemp("change"), delay) as running:
        yield running


def alter(broker: SaslBroker, name: str, value: str | None) -> None:
    admin = AdminClient({"bootstrap.servers": broker.open, "log_level": 0})
    operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    entry = ConfigEntry(name, value or "", incremental_operation=operation)
    resource = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
    (future,) = admin.incremental_alter_configs([resource]).values()
    future.result(PATIENCE_S)


def logs_in(broker: SaslBroker, name: str, password: str) -> bool:
    """By PLAIN."""
    with SaslWire(broker.secured) as wire:
        if wire.handshake("PLAIN").error_code:
            return False
        return wire.token(plain_token(name, password)).error_code == 0


def test_users_and_mechanisms_change_for_logins_behind_the_change(broker: SaslBroker) -> None:
    users = f"{LISTENER}.plain.sasl.jaas.config"
    with SaslWire(broker.secured) as open_since_before:
        open_since_before.handshake("PLAIN")
        assert open_since_before.token(plain_token(*BOB)).error_code == 0
        alter(broker, users, f'{PLAIN_MODULE} required user_bob="changed";')
        assert not logs_in(broker, *BOB)
        assert logs_in(broker, BOB[0], "changed")
        alter(broker, f"{LISTENER}.sasl.enabled.mechanisms", "SCRAM-SHA-256")
        with SaslWire(broker.secured) as wire:
            refused = wire.handshake("PLAIN")
            assert (refused.error_code, refused.mechanisms) == (UNSUPPORTED, ["SCRAM-SHA-256"])
        with SaslWire(broker.secured) as wire:
            assert wire.login_scram("SCRAM-SHA-256", *ALICE).error_code == 0
    alter(broker, f"{LISTENER}.sasl.enabled.mechanisms", None)
    alter(broker, users, None)
    assert logs_in(broker, *BOB)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (f"{LISTENER}.plain.sasl.jaas.config", "no login module", "jaas"),
        (f"{LISTENER}.plain.sasl.jaas.config", f"{PLAIN_MODULE} required;", "PLAIN has no users"),
        (f"{LISTENER}.sasl.enabled.mechanisms", "GSSAPI", "GSSAPI"),
        (f"{LISTENER}.sasl.enabled.mechanisms", "SCRAM-SHA-1", "SCRAM-SHA-1"),
        (f"{LISTENER}.sasl.enabled.mechanisms", "OAUTHBEARER", "sasl.oauthbearer.jwks"),
        ("sasl.jaas.config", f"{PLAIN_MODULE} required;", "listener.name.<listener>"),
    ],
)
def test_what_could_not_be_used_is_refused_at_once(
    broker: SaslBroker, name: str, value: str, said: str
) -> None:
    with pytest.raises(KafkaException) as refused:
        alter(broker, name, value)
    assert said in str(refused.value.args[0].str())
    assert logs_in(broker, *BOB)
