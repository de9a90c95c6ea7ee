"""Producers that fail for good, against a running broker."""

from __future__ import annotations

import logging
import uuid

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from penstock.client.fatal import fatal_errors_told
from tests.unit.cluster_target import TARGETS, bootstrap_servers

_LOG = logging.getLogger("tests.fatal")
_TIMEOUT_S = 30


def opened(servers: str, transactional_id: str) -> Producer:
    settings = {"bootstrap.servers": servers, "transactional.id": transactional_id}
    producer = Producer(settings, logger=_LOG)
    producer.init_transactions(_TIMEOUT_S)
    return producer


@pytest.mark.parametrize("target", TARGETS)
def test_whoever_was_taken_over_is_told_so(target: str) -> None:
    """Also where confluent-kafka has lost the exception: the first report here makes it do so."""
    servers, name = bootstrap_servers(target), f"fatal-{uuid.uuid4().hex[:8]}"
    old = opened(servers, name)
    old.begin_transaction()
    old.produce(name, b"1")
    old.flush(_TIMEOUT_S)
    old.commit_transaction(_TIMEOUT_S)
    opened(servers, name)
    old.begin_transaction()
    reports: list[KafkaError | None] = []
    for number in range(9):
        old.produce(name, b"2", str(number), on_delivery=lambda error, _: reports.append(error))
    with pytest.raises(KafkaException) as raised, fatal_errors_told():
        old.flush(_TIMEOUT_S)
    assert raised.value.args[0].fatal()
    assert raised.value.args[0].code() in (KafkaError._FENCED, KafkaError._FATAL)


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(ValueError, match="other"), fatal_errors_told():
        raise ValueError("other")
