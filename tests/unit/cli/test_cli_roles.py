"""`penstock roles` and `penstock acls review`, by what users of a broker may do and did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.patience import wait_until
from tests.security.sasl_kit import BOB, SaslBroker, sasl_broker
from tests.unit.cli.conftest import Command

PATIENCE_S = 60
USER = f"User:{BOB[0]}"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SaslBroker]:
    folder = tmp_path_factory.mktemp("roles")
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "penstock.audit.file": str(folder / "audit.jsonl"),
        "penstock.audit.interval.ms": "1000",
    }
    with sasl_broker(folder, settings) as running:
        admin = AdminClient({"bootstrap.servers": running.open, "log_level": 0})
        names = ("orders", "archive.2026")
        for made in admin.create_topics([NewTopic(name, 1, 1) for name in names]).values():
            made.result(PATIENCE_S)
        yield running


@pytest.fixture
def admin(nowhere: Command, broker: SaslBroker) -> Command:
    return replace(nowhere, servers=broker.open)


def produce(broker: SaslBroker, topic: str) -> int:
    """The error code of one record, written by bob."""
    errors: list[int] = []
    producer = Producer(broker.client("PLAIN", *BOB) | {"message.timeout.ms": PATIENCE_S * 1000})
    producer.produce(
        topic, b"x", on_delivery=lambda error, _: errors.append(error.code() if error else 0)
    )
    producer.flush(PATIENCE_S)
    return errors[0]


def read(broker: SaslBroker, topic: str) -> int:
    """The error code of one record, read by bob in a group."""
    settings = broker.client("PLAIN", *BOB) | {"group.id": "reports", "enable.auto.commit": False}
    with closing(Consumer(settings)) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        message = consumer.poll(PATIENCE_S)
        assert message is not None
        error = message.error()
        if error is not None:
            return int(error.code())
        try:
            consumer.commit(message, asynchronous=False)
        except KafkaException as refused:
            return int(refused.args[0].code())
    return 0


def done_by_bob(log: Path) -> set[tuple[str, str]]:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return {
        (line.get("operation", ""), line.get("resource", ""))
        for line in lines
        if line["principal"] == USER and line["outcome"] == "allowed"
    }


def test_a_role_is_what_its_users_may_do(admin: Command, broker: SaslBroker) -> None:
    refused = KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert produce(broker, "orders") == refused
    assert admin.run("roles", "add", "writer", "write", "--topic", "orders").lines == [
        "allow Role:writer to WRITE topic orders from anywhere"
    ]
    assert produce(broker, "orders") == refused
    admin.run("roles", "grant", "writer", BOB[0])
    assert produce(broker, "orders") == 0
    # What a role allows later, its users may do as well.
    added = admin.run("roles", "add", "writer", "read", "--topic", "orders", "--prefixed").lines
    assert added[-1] == "so for 1 user who have it"
    admin.run("roles", "add", "committer", "read", "--group", "reports")
    admin.run("roles", "add", "committer", "write", "--topic", "orders")
    admin.run("roles", "grant", "committer", BOB[0])
    assert read(broker, "orders") == 0
    listed = admin.run("roles", "list").lines
    assert [line.split() for line in listed[1:]] == [
        ["committer", "2", "bob"],
        ["writer", "2", "bob"],
    ]

    # Somebody takes an entry away; granted again, it is there again.
    admin.run("acls", "remove", BOB[0], "write", "--topic", "orders")
    assert (
        admin.run("roles", "show", "writer").lines[-1] == f"{USER} has it, but lacks 1 grant of it"
    )
    admin.run("roles", "grant", "writer", BOB[0])
    assert admin.run("roles", "show", "writer").lines[-1] == f"{USER} has it"

    # Both roles allow to write: it goes with the second.
    admin.run("roles", "revoke", "writer", BOB[0])
    assert produce(broker, "orders") == 0
    assert read(broker, "orders") == refused
    admin.run("roles", "remove", "committer", "write", "--topic", "orders")
    assert produce(broker, "orders") == refused
    admin.run("roles", "delete", "committer")
    assert [role["role"] for role in admin.run("roles", "list", "--json").json] == ["writer"]
    admin.run("roles", "delete", "writer")
    assert admin.run("acls", "list", "--json").json == []


def test_what_is_typed_wrong(admin: Command) -> None:
    assert "there is no role x; there is none" in admin.fail("roles", "grant", "x", "bob")
    words = ("roles", "add", "User:bob", "read", "--topic", "orders")
    assert "no name of a role" in admin.fail(*words, code=2)


def test_a_review_finds_what_is_too_much(admin: Command, broker: SaslBroker) -> None:
    log = Path(str(broker.settings["penstock.audit.file"]))
    for words in (
        ("*", "describe", "--topic", "*"),
        (BOB[0], "all", "--topic", "archive.", "--prefixed"),
        (BOB[0], "read", "--group", "reports"),
        (BOB[0], "delete", "--group", "reports"),
        (BOB[0], "write", "--transactional-id", "t", "--deny"),
    ):
        admin.run("acls", "add", *words)
    assert produce(broker, "archive.2026") == 0
    assert read(broker, "archive.2026") == 0
    done = {("WRITE", "archive.2026"), ("READ", "archive.2026"), ("READ", "reports")}
    wait_until(lambda: done <= done_by_bob(log), "the log has what bob did")

    answer = admin.try_run("acls", "review", "--file", str(log), "--json")
    assert answer.code == 0
    assert "not 30 days" in answer.err
    findings = {
        (each["finding"], each["entry"]["principal"], each["entry"]["operation"])
        for each in answer.json["findings"]
    }
    assert findings == {
        ("wildcard", "User:*", "DESCRIBE"),
        ("wildcard", USER, "ALL"),
        ("more than needed", USER, "ALL"),
        ("unused", USER, "DELETE"),
    }
    least = {
        (each["operation"], each["resource_type"], each["resource_name"], each["pattern_type"])
        for each in answer.json["least"][USER]
    }
    assert least == {
        ("READ", "TOPIC", "archive.2026", "LITERAL"),
        ("WRITE", "TOPIC", "archive.2026", "LITERAL"),
        ("READ", "GROUP", "reports", "LITERAL"),
    }
    text = admin.try_run("acls", "review", "--file", str(log), "--user", BOB[0]).lines
    assert f"{USER} did nothing that 3 grants would not have allowed:" in text
    assert any("used for READ, WRITE of archive.2026" in line for line in text)
