"""Topics that somebody asks for before they are made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka.admin import AdminClient

from penstock.model.error import ErrorCode
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponseTopic,
)
from tests.conformance.clients.admin_confluent import answer
from tests.conformance.clients.raw import Connection
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

pytestmark = pytest.mark.client("raw requests")

VERSION = 12


@pytest.fixture
def connection(cluster: Cluster) -> Iterator[Connection]:
    with closing(Connection(cluster.bootstrap_servers)) as connection:
        yield connection


def look(connection: Connection, topic: str, *, create: bool = True) -> MetadataResponseTopic:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=create
    )
    (found,) = connection.call(request, VERSION).topics
    assert isinstance(found, MetadataResponseTopic)
    return found


def is_unknown(found: MetadataResponseTopic) -> bool:
    return found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not found.partitions


@pytest.mark.feature("A missing topic is unknown at the first look, which has it made")
def test_first_look(connection: Connection, topic_name: str) -> None:
    assert is_unknown(look(connection, topic_name))
    wait_until(lambda: len(look(connection, topic_name).partitions) == 3)


@pytest.mark.feature("A missing topic is not made where the caller does not allow it")
def test_look_without_creation(connection: Connection, topic_name: str) -> None:
    for _ in range(3):
        assert is_unknown(look(connection, topic_name, create=False))


@pytest.mark.feature("A deleted topic is unknown to whoever looks next")
def test_look_after_deletion(connection: Connection, admin: AdminClient, topic: str) -> None:
    answer(admin.delete_topics([topic])[topic])
    assert is_unknown(look(connection, topic))


@pytest.mark.feature("Names Kafka refuses (INVALID_TOPIC_EXCEPTION)")
def test_refused_name(connection: Connection) -> None:
    assert look(connection, "no spaces").error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
