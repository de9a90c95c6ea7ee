"""Clients over their quotas.

How long they are told to wait, and what is done meanwhile.

What is compared are the times that the broker tells, which follow from the quota; how long
anything takes here is not.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.clients.share import set_group, share_member
from tests.conformance.conftest import Cluster
from tests.node.wire_kit import batch, fetch, fetched, part, produce, produced
from tests.patience import wait_until

SECOND = 1000

Entity = tuple[tuple[str, str | None], ...]
SetQuota = Callable[..., None]


@pytest.fixture
def set_quota(connection: Connection) -> Iterator[SetQuota]:
    """Of some entity; taken away at the end."""
    given: set[tuple[Entity, str]] = set()
    before = _count(connection)

    def alter(entity: Entity, key: str, value: float | None) -> None:
        op = OpData(key=key, value=value or 0.0, remove=value is None)
        named = [RequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity]
        request = AlterClientQuotasRequest(entries=[RequestEntryData(entity=named, ops=[op])])
        (answer,) = connection.call(request, 1).entries
        assert answer.error_code == 0, answer

    def set_one(key: str, value: float, **entity: str | None) -> None:
        whose = tuple((kind.replace("_", "-"), name) for kind, name in entity.items())
        alter(whose, key, value)
        given.add((whose, key))
        wait_until(lambda: _count(connection) == before + len(given))

    yield set_one
    for whose, key in given:
        alter(whose, key, None)
    wait_until(lambda: _count(connection) == before)


def _count(connection: Connection) -> int:
    found = connection.call(DescribeClientQuotasRequest(components=[], strict=False), 1)
    return sum(len(entry.values) for entry in found.entries)


@pytest.fixture
def client_id() -> str:
    """That no other test uses: what it did before counts for a while."""
    return f"quota-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def greedy(cluster: Cluster, client_id: str) -> Iterator[Connection]:
    with closing(Connection(cluster.bootstrap_servers, client_id)) as connection:
        yield connection


def send(connection: Connection, topic: str, size: int) -> Any:
    answer = connection.call(produce(topic, batch(b"." * size)), 12)
    assert produced(answer).error_code == 0
    return answer


@pytest.mark.feature("A producer over its byte rate is told how long to wait")
@pytest.mark.client("raw requests")
@pytest.mark.parametrize("by_user", [False, True], ids=["client-id", "user-and-client-id"])
def test_produce(
    cluster: Cluster,
    greedy: Connection,
    set_quota: SetQuota,
    client_id: str,
    topic: str,
    by_user: bool,
) -> None:
    """Thirty seconds' worth in a window that counts as ten: twenty to wait."""
    user = {"user": "ANONYMOUS"} if by_user else {}
    set_quota("producer_byte_rate", 1000.0, client_id=client_id, **user)
    wait_until(lambda: send(greedy, topic, 30_000).throttle_time_ms > 0)
    with closing(Connection(cluster.bootstrap_servers, client_id)) as another:
        told = send(another, topic, 10).throttle_time_ms
    assert told == pytest.approx(20 * SECOND, abs=5 * SECOND)
    with closing(Connection(cluster.bootstrap_servers, "somebody-else")) as other:
        assert send(other, topic, 30_000).throttle_time_ms == 0


@pytest.mark.feature("A consumer over its byte rate gets an empty answer and the time to wait")
@pytest.mark.client("raw requests")
def test_fetch(
    connection: Connection, greedy: Connection, set_quota: SetQuota, client_id: str, topic: str
) -> None:
    for _ in range(10):
        send(connection, topic, 4000)
    set_quota("consumer_byte_rate", 1000.0, client_id=client_id)
    # One batch each: two are within ten seconds' worth, a third is not.
    request = fetch({topic: [part(0, 0, 4000)]})
    taken = 0
    while not (answer := greedy.call(request, 12)).throttle_time_ms:
        assert len(fetched(answer)[topic, 0].records) >= 4000
        taken += 1
    assert taken >= 2
    assert answer.error_code == 0 and not answer.responses
    assert answer.throttle_time_ms < 5 * SECOND


@pytest.mark.feature("What a share group fetches counts for the consumer's byte rate")
@pytest.mark.client("confluent-kafka, share consumer")
def test_share_fetch(
    cluster: Cluster,
    connection: Connection,
    set_quota: SetQuota,
    client_id: str,
    group_id: str,
    topic: str,
) -> None:
    """Twelve seconds' worth in a window that counts as ten; some is there at once."""
    for _ in range(12):
        send(connection, topic, 4000)
    set_quota("consumer_byte_rate", 4000.0, client_id=client_id)
    set_group(connection, group_id, auto_offset_reset="earliest")
    with share_member(cluster.bootstrap_servers, group_id, topic, client_id) as member:
        wait_until(lambda: member.poll() >= 0 and len(member.seen) > 5)
        wait_until(lambda: member.poll() >= 0 and max(member.waits, default=0) > 0)
        assert {deliveries for _, deliveries in member.seen} == {1}


@pytest.mark.feature("Partitions beyond the mutation rate are refused (THROTTLING_QUOTA_EXCEEDED)")
@pytest.mark.client("raw requests")
@pytest.mark.parametrize("strict", [True, False], ids=["refused", "older-versions-wait"])
def test_mutations(
    cluster: Cluster, set_quota: SetQuota, client_id: str, topic_name: str, strict: bool
) -> None:
    """Eleven partitions at once, one a second after that."""
    set_quota("controller_mutation_rate", 1.0, client_id=client_id)

    def ask(request: Any, version: int) -> Any:
        # Each on a connection of its own: the one before may be muted.
        with closing(Connection(cluster.bootstrap_servers, client_id)) as one:
            return one.call(request, version)

    def creation(name: str, count: int) -> CreateTopicsRequest:
        topic = CreatableTopic(name=name, num_partitions=count, replication_factor=1)
        return CreateTopicsRequest(topics=[topic], timeout_ms=10_000)

    version = 7 if strict else 5
    first = ask(creation(topic_name, 31), version)
    assert first.topics[0].error_code == 0
    second = ask(creation(f"{topic_name}-b", 1), version)
    growth = CreatePartitionsTopic(name=topic_name, count=32, assignments=None)
    third = ask(CreatePartitionsRequest(topics=[growth], timeout_ms=10_000), 3 if strict else 2)
    waits = [each.throttle_time_ms for each in (first, second, third)]
    if strict:
        assert waits[0] == 0
        for result in (second.topics[0], third.results[0]):
            assert result.error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
            assert result.error_message is None
        assert all(wait == pytest.approx(20 * SECOND, abs=8 * SECOND) for wait in waits[1:])
    else:
        assert [second.topics[0].error_code, third.results[0].error_code] == [0, 0]
        assert all(wait == pytest.approx(20 * SECOND, abs=8 * SECOND) for wait in waits)


@pytest.mark.feature("A throttled producer hears of it, and all of it arrives")
@pytest.mark.client("confluent-kafka")
def test_confluent(cluster: Cluster, set_quota: SetQuota, client_id: str, topic: str) -> None:
    from confluent_kafka import Producer

    set_quota("producer_byte_rate", 3000.0, client_id=client_id)
    waits: list[float] = []
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "client.id": client_id,
            "linger.ms": 0,
            "throttle_cb": lambda event: waits.append(event.throttle_time),
        }
    )
    for _ in range(4):
        producer.produce(topic, b"." * 9000)
        assert producer.flush(PATIENCE_SECONDS) == 0
    wait_until(lambda: bool(producer.poll(0.05) or waits))
    assert max(waits) > 0


@pytest.mark.feature("A throttled producer hears of it, and all of it arrives")
@pytest.mark.client("kafka-python")
def test_kafka_python(
    cluster: Cluster,
    set_quota: SetQuota,
    client_id: str,
    topic: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    from kafka import KafkaProducer

    set_quota("producer_byte_rate", 3000.0, client_id=client_id)
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers.split(","), client_id=client_id
    )
    try:
        for _ in range(4):
            producer.send(topic, b"." * 9000).get(PATIENCE_SECONDS)
        wait_until(lambda: "throttled by broker" in caplog.text)
    finally:
        producer.close()
