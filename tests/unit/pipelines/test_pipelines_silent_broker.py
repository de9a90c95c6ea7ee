"""A broker that takes connections and says nothing: what is asked of it ends as Kafka's error."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from penstock.pipelines.kafka import admin, end_offsets
from penstock.pipelines.topic_making import ensure_topic


@pytest.fixture
def client() -> Iterator[AdminClient]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield admin({"bootstrap.servers": f"127.0.0.1:{server.getsockname()[1]}"})


def test_what_takes_too_long_is_an_error_of_kafkas(client: AdminClient) -> None:
    for _ in range(5):
        with pytest.raises(KafkaException) as told:
            end_offsets(client, [("orders", 0)], timeout_s=0.2)
        assert told.value.args[0].code() == KafkaError._TIMED_OUT
        with pytest.raises(KafkaException) as told:
            ensure_topic(client, "orders", timeout_s=0.2)
        assert told.value.args[0].code() == KafkaError._TIMED_OUT
