"""`penstock tenants`, with the users it lets in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from tests.security.sasl_kit import BOB, SaslBroker, sasl_broker
from tests.unit.cli.conftest import Command

PATIENCE_S = 60


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SaslBroker]:
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with sasl_broker(tmp_path_factory.mktemp("tenants"), settings) as running:
        yield running


@pytest.fixture
def admin(nowhere: Command, broker: SaslBroker) -> Command:
    return replace(nowhere, servers=broker.open)


def make(broker: SaslBroker, name: str, partitions: int = 1, **settings: str) -> str | None:
    """As a user of the tenant; why not."""
    client = AdminClient(broker.client("PLAIN", *BOB))
    new = NewTopic(
        name, partitions, 1, config={k.replace("_", "."): v for k, v in settings.items()}
    )
    try:
        client.create_topics([new], request_timeout=PATIENCE_S)[name].result()
    except KafkaException as error:
        return str(error.args[0].str())
    return None


def test_a_tenant_from_its_making_to_its_end(admin: Command, broker: SaslBroker) -> None:
    assert make(broker, "payments.early") is not None
    said = admin.run(
        *("tenants", "create", "payments", "--prefix", "payments.", "--owner", "a@example.com"),
        *("--user", BOB[0], "--produce", "20MB/s", "--partitions", "5"),
    ).lines
    assert said == [
        "tenant payments: topics that begin with payments.",
        f"{BOB[0]} may do everything under payments.",
        "rates are set for 1 user",
    ]
    assert make(broker, "payments.a", 3) is None
    assert make(broker, "payments.b", 3) == (
        "tenant payments (owner a@example.com): has 3 of 5 partitions, and 3 more are asked for"
    )
    assert "authoriz" in (make(broker, "orders.a") or "").lower()
    (quota,) = admin.run("quotas", "list", "--json").json
    assert quota["quotas"] == {"producer_byte_rate": 20 * 1024 * 1024}

    admin.run("tenants", "set", "payments", "--retention", "7d", "--default", "retention.ms=1000")
    assert "retention.ms is" in (make(broker, "payments.c", retention_ms="604800001") or "")
    assert make(broker, "payments.c") is None
    (listed,) = admin.run("tenants", "list", "--json").json
    assert listed["used"] == {"topics": 2, "partitions": 4, "bytes": None}
    assert listed["retention_ms"] == 7 * 86_400_000
    assert any("4 of 5" in line for line in admin.run("tenants", "list").lines)
    assert any(
        "default retention.ms" in line for line in admin.run("tenants", "show", "payments").lines
    )

    admin.run("tenants", "remove", "payments")
    assert admin.run("tenants", "list", "--json").json == []
    assert admin.run("quotas", "list", "--json").json == []
    assert "authoriz" in (make(broker, "payments.d") or "").lower()
    assert "there is no tenant payments; there is none" in admin.fail("tenants", "show", "payments")


def test_what_is_typed_wrong(admin: Command) -> None:
    create = ("tenants", "create", "x", "--prefix", "x.")
    assert "expected bytes" in admin.fail(*create, "--bytes", "many", code=2)
    assert "expected a time" in admin.fail(*create, "--retention", "long", code=2)
    admin.fail(*create, "--user", "bob", "--produce", "fast", code=2)
    assert "name some with --user" in admin.fail(*create, "--produce", "1MB/s", code=2)
    assert admin.run("tenants", "list", "--json").json == []


def test_without_an_authorizer(nowhere: Command, tmp_path: Path) -> None:
    with sasl_broker(tmp_path) as broker:
        admin = replace(nowhere, servers=broker.open)
        create = ("tenants", "create", "x", "--prefix", "x.", "--user", "bob", "--topics", "0")
        said = admin.run(*create).lines
        assert said[1] == "the brokers have no authorizer: not only bob may, everybody does"
        assert "has 0 of 0 topics" in (make(broker, "x.a") or "")
        admin.run("tenants", "remove", "x")
        assert make(broker, "x.a") is None
