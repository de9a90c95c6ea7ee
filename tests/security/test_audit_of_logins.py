"""Who logs in, who does not, and who is refused: on record."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from tests.node.test_audit_log import about, of_file
from tests.patience import wait_until
from tests.security.sasl_kit import BOB, SaslBroker

PATIENCE_S = 30


def test_logins_and_refusals_are_on_record(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "penstock.audit.file": str(file),
        "penstock.audit.interval.ms": 1000,
    }
    with SaslBroker(tmp_path, settings) as broker:
        admin = AdminClient(broker.client("PLAIN", *BOB))
        with pytest.raises(KafkaException):
            admin.create_topics([NewTopic("t", 1)], request_timeout=PATIENCE_S)["t"].result()
        wrong = AdminClient(broker.client("PLAIN", "eve", "guessed"))
        with pytest.raises(KafkaException):
            wrong.list_topics(timeout=2)
        wait_until(lambda: about(of_file(file), kind="login", outcome="refused"))
        wait_until(lambda: about(of_file(file), kind="login", outcome="allowed"))
    (login, *_) = about(of_file(file), kind="login", outcome="allowed")
    assert (login["principal"], login["mechanism"]) == ("User:bob", "PLAIN")
    (refused, *_) = about(of_file(file), kind="login", outcome="refused")
    assert refused["error"] == "SASL_AUTHENTICATION_FAILED" and refused["host"] == "127.0.0.1"
    assert b"guessed" not in file.read_bytes()
    (denied,) = about(of_file(file), kind="change", outcome="refused")
    assert (denied["principal"], denied["resource"]) == ("User:bob", "t")
    assert denied["error"] == "TOPIC_AUTHORIZATION_FAILED"
