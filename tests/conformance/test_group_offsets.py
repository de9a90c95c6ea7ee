"""Consumer groups: offsets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.model.error import ErrorCode
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.member import Committed
from tests.conformance.clients.membership import Membership, places, wait_shared
from tests.conformance.clients.record import BrokerError, Client, Record
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

MakeTopic = Callable[..., str]
WITH_METADATA = ["confluent-kafka", "kafka-python"]


def fill(cluster: Cluster, topic: str, partitions: int, count: int = 20) -> None:
    records = [Record(b"%d" % n, partition=n % partitions) for n in range(count)]
    ConfluentClient(cluster.bootstrap_servers).produce(topic, records)


@pytest.fixture
def filled(cluster: Cluster, make_topic: MakeTopic) -> str:
    """Ten records in each of two partitions."""
    topic = make_topic(2)
    fill(cluster, topic, 2)
    return topic


@pytest.mark.feature("Commit what was read; the next member goes on from there")
def test_resume(
    client: Client, cluster: Cluster, membership: Membership, filled: str, group_id: str
) -> None:
    first = membership.join(client.name, group_id, filled)
    wait_until(lambda: len(first.received) == 20)
    first.ask(lambda consumer: consumer.commit())
    first.close()
    fill(cluster, filled, 2, 6)
    second = membership.join(client.name, group_id, filled)
    wait_until(lambda: len(second.received) >= 6)
    assert sorted(second.values()) == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert {record.offset for _, record in second.received} == {10, 11, 12}
    assert second.ask(lambda consumer: consumer.position((filled, 0))) == 13


@pytest.mark.feature("Automatic commits")
def test_auto_commit(client: Client, membership: Membership, filled: str, group_id: str) -> None:
    member = membership.join(client.name, group_id, filled, auto_commit=True)
    wait_until(lambda: len(member.received) == 20)
    member.close()
    after = membership.join(client.name, group_id)
    found = after.ask(lambda consumer: consumer.committed(places(filled, 2)))
    assert found == {(filled, 0): Committed(10), (filled, 1): Committed(10)}


@pytest.mark.feature("Commit chosen offsets and read them back")
def test_commit(client: Client, membership: Membership, filled: str, group_id: str) -> None:
    member = membership.join(client.name, group_id, filled)
    wait_shared([member], places(filled, 2))
    member.ask(lambda consumer: consumer.commit({(filled, 0): Committed(4)}))
    found = member.ask(lambda consumer: consumer.committed(places(filled, 2)))
    assert found == {(filled, 0): Committed(4), (filled, 1): None}
    # Backwards is allowed.
    member.ask(lambda consumer: consumer.commit({(filled, 0): Committed(1)}))
    assert member.ask(lambda consumer: consumer.committed([(filled, 0)])) == {
        (filled, 0): Committed(1)
    }


@pytest.mark.feature("Commit without waiting")
def test_commit_async(client: Client, membership: Membership, filled: str, group_id: str) -> None:
    member = membership.join(client.name, group_id, filled)
    wait_shared([member], places(filled, 2))
    answered = member.ask(lambda consumer: consumer.commit_async({(filled, 1): Committed(7)}))
    wait_until(lambda: member.ask(lambda consumer: answered()))
    found = member.ask(lambda consumer: consumer.committed([(filled, 1)]))
    assert found == {(filled, 1): Committed(7)}


@pytest.mark.feature("Metadata beside an offset")
@pytest.mark.parametrize("client", WITH_METADATA, indirect=True)
def test_metadata(client: Client, membership: Membership, filled: str, group_id: str) -> None:
    member = membership.join(client.name, group_id, filled)
    wait_shared([member], places(filled, 2))
    # confluent-kafka sends one byte more than it was given, the end of a C string.
    wanted = {(filled, 0): Committed(4, "seen ✓"), (filled, 1): Committed(5, "m" * 4095)}
    member.ask(lambda consumer: consumer.commit(wanted))
    assert member.ask(lambda consumer: consumer.committed(places(filled, 2))) == wanted


@pytest.mark.feature("Metadata that is too long (OFFSET_METADATA_TOO_LARGE)")
def test_metadata_too_large(
    client: Client, membership: Membership, filled: str, group_id: str
) -> None:
    member = membership.join(client.name, group_id, filled)
    wait_shared([member], places(filled, 2))
    with pytest.raises(BrokerError) as refused:
        member.ask(lambda consumer: consumer.commit({(filled, 0): Committed(4, "m" * 4097)}))
    assert refused.value.code == ErrorCode.OFFSET_METADATA_TOO_LARGE
    found = member.ask(lambda consumer: consumer.committed([(filled, 0)]))
    assert found == {(filled, 0): None}


@pytest.mark.feature("A simple consumer: partitions of its own choice, offsets of a group")
def test_simple(client: Client, membership: Membership, filled: str, group_id: str) -> None:
    simple = membership.join(client.name, group_id)
    simple.assign({(filled, 1): 6})
    wait_until(lambda: len(simple.received) == 4)
    simple.ask(lambda consumer: consumer.commit({(filled, 1): Committed(8)}))
    simple.close()
    again = membership.join(client.name, group_id)
    again.assign({(filled, 1): None})
    wait_until(lambda: len(again.received) == 2)
    assert [record.offset for _, record in again.received] == [8, 9]


@pytest.mark.feature("A simple consumer may not commit for a group with members")
def test_simple_among_members(
    client: Client, membership: Membership, filled: str, group_id: str
) -> None:
    member = membership.join(client.name, group_id, filled)
    wait_shared([member], places(filled, 2))
    simple = membership.join(client.name, group_id)
    simple.assign({(filled, 1): 6})
    with pytest.raises(BrokerError) as refused:
        simple.ask(lambda consumer: consumer.commit({(filled, 1): Committed(8)}))
    # aiokafka and kafka-python turn the code into one of their own without a number.
    assert refused.value.code in (ErrorCode.UNKNOWN_MEMBER_ID, None)
    assert member.ask(lambda consumer: consumer.committed([(filled, 1)])) == {(filled, 1): None}


@pytest.mark.feature("Where there is no offset: auto.offset.reset=latest")
def test_reset_latest(
    client: Client, cluster: Cluster, membership: Membership, filled: str, group_id: str
) -> None:
    member = membership.join(client.name, group_id, filled, reset="latest")
    wait_shared([member], places(filled, 2))
    wait_until(
        lambda: (
            all(
                member.ask(lambda consumer, place=place: consumer.position(place)) == 10  # type: ignore[misc]
                for place in places(filled, 2)
            )
            if client.name != "confluent-kafka"
            else True
        )
    )
    wait_until(lambda: bool(fill(cluster, filled, 2, 2) or member.received))
    assert min(record.offset or 0 for _, record in member.received) >= 10


@pytest.mark.feature("A committed offset past the end: auto.offset.reset decides")
def test_offset_out_of_range(
    client: Client, membership: Membership, filled: str, group_id: str
) -> None:
    simple = membership.join(client.name, group_id)
    simple.assign({(filled, 0): 0})
    simple.ask(lambda consumer: consumer.commit({(filled, 0): Committed(99)}))
    simple.close()
    member = membership.join(client.name, group_id, filled, reset="earliest")
    wait_until(lambda: len(member.received) == 20)
