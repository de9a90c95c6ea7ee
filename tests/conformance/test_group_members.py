"""Consumer groups: members."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.member import Member
from tests.conformance.clients.membership import (
    STRATEGIES,
    Membership,
    places,
    wait_even,
    wait_shared,
)
from tests.conformance.clients.record import PATIENCE_SECONDS, Client, Record
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

MakeTopic = Callable[..., str]
SESSION_MS = 6_000  # the shortest that Kafka allows unless told otherwise

# kafka-python loses its place for good when a poll ends between its own assignment of a changed
# topic and the broker's answer to that: let polls rarely end.
LONG_POLL = {"poll_ms": 4_000}

by_strategy = pytest.mark.parametrize(("client", "strategy"), STRATEGIES, indirect=["client"])


def fill(cluster: Cluster, topic: str, partitions: int, count: int = 30) -> set[bytes]:
    records = [Record(b"%d" % n, partition=n % partitions) for n in range(count)]
    ConfluentClient(cluster.bootstrap_servers).produce(topic, records)
    return {record.value for record in records if record.value is not None}


def wait_received(members: list[Member], values: set[bytes]) -> None:
    wait_until(lambda: {value for member in members for value in member.values()} >= values)


@pytest.mark.feature("One member reads everything, with each assignment strategy")
@by_strategy
def test_alone(
    client: Client,
    strategy: str,
    cluster: Cluster,
    membership: Membership,
    make_topic: MakeTopic,
    group_id: str,
) -> None:
    topic = make_topic(3)
    values = fill(cluster, topic, 3)
    member = membership.join(client.name, group_id, topic, strategies=(strategy,))
    wait_shared([member], places(topic, 3))
    wait_received([member], values)
    assert len(member.received) == 30


@pytest.mark.feature("Members share the partitions as they come and go, with each strategy")
@by_strategy
def test_come_and_go(
    client: Client,
    strategy: str,
    cluster: Cluster,
    membership: Membership,
    make_topic: MakeTopic,
    group_id: str,
) -> None:
    topic, count = make_topic(6), 6
    members = []
    for _ in range(3):
        members.append(membership.join(client.name, group_id, topic, strategies=(strategy,)))
        wait_even(members, places(topic, count))
    values = fill(cluster, topic, count)
    wait_received(members, values)
    members.pop(0).close()
    wait_even(members, places(topic, count))


@pytest.mark.feature("More members than partitions: some wait")
def test_spare_member(
    client: Client, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(1)
    members = [membership.join(client.name, group_id, topic) for _ in range(2)]
    wait_shared(members, places(topic, 1))
    holder = next(member for member in members if member.assigned)
    members.remove(holder)
    holder.close()
    wait_shared(members, places(topic, 1))


@pytest.mark.feature("A member that is killed loses its partitions after the session timeout")
def test_killed_member(
    client: Client, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(4)
    member = membership.join(client.name, group_id, topic)
    wait_shared([member], places(topic, 4))
    other = membership.join_process(client.name, group_id, topic, SESSION_MS)
    wait_until(lambda: len(member.assigned) == 2)
    other.kill()
    started = time.monotonic()
    wait_shared([member], places(topic, 4))
    assert time.monotonic() - started > SESSION_MS / 1000 - 1.5


@pytest.mark.feature("Cooperative: nobody gives up what it keeps")
@pytest.mark.parametrize("client", ["confluent-kafka", "kafka-python"], indirect=True)
def test_cooperative(
    client: Client, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(6)
    cooperative = ("cooperative-sticky",)
    first = membership.join(client.name, group_id, topic, strategies=cooperative)
    wait_shared([first], places(topic, 6))
    second = membership.join(client.name, group_id, topic, strategies=cooperative)
    wait_shared([first, second], places(topic, 6))
    given_up = {place for kind, some in first.events() if kind == "revoke" for place in some}
    assert given_up == second.assigned
    second.close()
    wait_shared([first], places(topic, 6))
    assert {place for kind, some in first.events() if kind == "revoke" for place in some} == (
        given_up
    )


@pytest.mark.feature("A member without a strategy in common is refused, the others go on")
@pytest.mark.parametrize("client", ["confluent-kafka", "kafka-python"], indirect=True)
def test_no_common_strategy(
    client: Client, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(2)
    member = membership.join(client.name, group_id, topic, strategies=("range",))
    wait_shared([member], places(topic, 2))
    other = membership.join(client.name, group_id, topic, strategies=("roundrobin",))
    time.sleep(2)
    assert not other.assigned
    assert member.assigned == places(topic, 2)


@pytest.mark.feature("A member that exceeds max.poll.interval.ms leaves, and comes back")
def test_poll_interval(
    client: Client, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(4)
    slow = membership.join(
        client.name, group_id, topic, session_ms=SESSION_MS, poll_interval_ms=SESSION_MS
    )
    wait_shared([slow], places(topic, 4))
    quick = membership.join(client.name, group_id, topic)
    wait_shared([slow, quick], places(topic, 4))
    slow.polling = False
    wait_until(lambda: quick.assigned == places(topic, 4))
    slow.polling = True
    wait_shared([slow, quick], places(topic, 4))


@pytest.mark.feature("A topic pattern takes in topics that match later")
def test_pattern(
    client: Client, cluster: Cluster, admin: AdminClient, membership: Membership, topic_name: str
) -> None:
    names = [f"{topic_name}.{n}" for n in range(3)]

    def create(name: str) -> None:
        admin.create_topics([NewTopic(name, 2)])[name].result(PATIENCE_SECONDS)

    create(names[0])
    pattern = rf"{topic_name}\.[01]$"
    member = membership.join(client.name, f"{topic_name}-group", pattern=pattern, **LONG_POLL)
    wait_shared([member], places(names[0], 2))
    create(names[2])
    create(names[1])
    wait_shared([member], places(names[0], 2) | places(names[1], 2))
    wait_received([member], fill(cluster, names[1], 2))


@pytest.mark.feature("Partitions that a topic gains are shared out")
def test_added_partitions(
    client: Client,
    cluster: Cluster,
    admin: AdminClient,
    membership: Membership,
    make_topic: MakeTopic,
    group_id: str,
) -> None:
    topic = make_topic(2)
    members = [membership.join(client.name, group_id, topic, **LONG_POLL) for _ in range(2)]
    wait_shared(members, places(topic, 2))
    admin.create_partitions([NewPartitions(topic, 4)])[topic].result(PATIENCE_SECONDS)
    wait_shared(members, places(topic, 4))
    wait_received(members, fill(cluster, topic, 4))


@pytest.mark.feature("A deleted topic leaves the group, the other topic is read on")
def test_deleted_topic(
    client: Client,
    cluster: Cluster,
    admin: AdminClient,
    membership: Membership,
    topic_name: str,
    group_id: str,
) -> None:
    kept, gone = f"{topic_name}.kept", f"{topic_name}.gone"
    created = admin.create_topics([NewTopic(kept, 2), NewTopic(gone, 2)])
    for future in created.values():
        future.result(PATIENCE_SECONDS)
    # By pattern: a client that names a topic would have it created again.
    member = membership.join(client.name, group_id, pattern=rf"{topic_name}\..*", **LONG_POLL)
    wait_shared([member], places(kept, 2) | places(gone, 2))
    admin.delete_topics([gone])[gone].result(PATIENCE_SECONDS)
    wait_shared([member], places(kept, 2))
    wait_received([member], fill(cluster, kept, 2))


@pytest.mark.feature("Members of different clients in one group")
@pytest.mark.client("confluent-kafka")
@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_mixed_clients(
    strategy: str, cluster: Cluster, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(6)
    members = []
    for name in ("confluent-kafka", "kafka-python", "aiokafka"):
        members.append(membership.join(name, group_id, topic, strategies=(strategy,)))
        wait_shared(members, places(topic, 6))
    wait_received(members, fill(cluster, topic, 6))
    # Whoever led is gone: another client's assignor takes over.
    for _ in range(2):
        members.pop(0).close()
        wait_shared(members, places(topic, 6))


@pytest.mark.feature("Cooperative members of different clients in one group")
@pytest.mark.client("confluent-kafka")
def test_mixed_cooperative(
    cluster: Cluster, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(6)
    members = []
    for name in ("kafka-python", "confluent-kafka"):
        member = membership.join(name, group_id, topic, strategies=("cooperative-sticky",))
        members.append(member)
        wait_shared(members, places(topic, 6))
    wait_received(members, fill(cluster, topic, 6))
    members.pop(0).close()
    wait_shared(members, places(topic, 6))


@pytest.mark.feature("Members subscribe to different topics")
def test_different_topics(
    client: Client, cluster: Cluster, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    left, right = make_topic(2), make_topic(2)
    one = membership.join(client.name, group_id, left)
    two = membership.join(client.name, group_id, right)
    wait_until(lambda: one.assigned == places(left, 2) and two.assigned == places(right, 2))
    wait_received([two], fill(cluster, right, 2))
