"""Consumer groups: the new protocol (KIP-848)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from penstock.model.error import ErrorCode
from tests.conformance.clients.admin_confluent import answer
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.member import Committed, Member, Place
from tests.conformance.clients.membership import Membership, places, wait_even, wait_shared
from tests.conformance.clients.record import PATIENCE_SECONDS, Record
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

MakeTopic = Callable[..., str]
Join = Callable[..., Member]
SESSION_MS = 6_000  # the shortest that the suite's brokers allow
FATAL = -150
CONFLUENT, JAVA = "confluent-kafka", "Java client"

both_clients = pytest.mark.parametrize(
    "client", [CONFLUENT, pytest.param(JAVA, marks=pytest.mark.java)]
)


@pytest.fixture
def join(membership: Membership, client: str, group_id: str) -> Join:
    """A member of the test's group, by the new protocol."""
    return partial(membership.join, client, group_id, protocol="consumer")


def fill(cluster: Cluster, topic: str, partitions: int, count: int = 30) -> set[bytes]:
    records = [Record(b"%d" % n, partition=n % partitions) for n in range(count)]
    ConfluentClient(cluster.bootstrap_servers).produce(topic, records)
    return {record.value for record in records if record.value is not None}


def wait_received(members: list[Member], values: set[bytes]) -> None:
    wait_until(lambda: {value for member in members for value in member.values()} >= values)


def given_up(member: Member, since: int = 0) -> set[Place]:
    """Behind as many events as that."""
    later = member.events()[since:]
    return {place for kind, some in later if kind != "assign" for place in some}


def wait_described(admin: AdminClient, group: str, kind: str) -> None:
    """Until the group is of this type and at rest: a member's last word may be under way."""

    def stable() -> bool:
        found = answer(admin.describe_consumer_groups([group])[group])
        return bool((found.type.name, found.state.name) == (kind, "STABLE"))

    wait_until(stable)


def wait_refused(member: Member, code: ErrorCode) -> None:
    wait_until(lambda: member.failure is not None)
    assert member.failure is not None
    # librdkafka tells of what it cannot go on from by a code of its own.
    assert member.failure.code in (code, FATAL)


@pytest.mark.feature("Members share the partitions as they come and go, with each assignor")
@both_clients
@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_come_and_go(
    assignor: str, join: Join, cluster: Cluster, admin: AdminClient, make_topic: MakeTopic
) -> None:
    topic, members = make_topic(6), []
    for _ in range(3):
        members.append(join(topic, assignor=assignor))
        wait_even(members, places(topic, 6))
    wait_received(members, fill(cluster, topic, 6))
    members.pop(0).close()
    wait_even(members, places(topic, 6))


@pytest.mark.feature("Ranges: one member has the same partitions of all topics")
@both_clients
def test_ranges(join: Join, make_topic: MakeTopic) -> None:
    topics = [make_topic(2), make_topic(2)]
    members = [join(*topics, assignor="range") for _ in range(2)]
    wait_shared(members, places(topics[0], 2) | places(topics[1], 2))
    assert [{number for _, number in member.assigned} for member in members] in (
        [{0}, {1}],
        [{1}, {0}],
    )


@pytest.mark.feature("Nobody gives up what it keeps")
@both_clients
def test_incremental(join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(6)
    first = join(topic)
    wait_shared([first], places(topic, 6))
    second = join(topic)
    wait_shared([first, second], places(topic, 6))
    kept = set(first.assigned)
    assert given_up(first) == second.assigned
    third = join(topic)
    wait_shared([first, second, third], places(topic, 6))
    assert first.assigned < kept
    assert given_up(second) | given_up(first) == places(topic, 6) - first.assigned
    third.close()
    wait_shared([first, second], places(topic, 6))
    # What is there to share out again takes nothing from anybody.
    assert given_up(second).isdisjoint(second.assigned - given_up(first) - third.assigned)


@pytest.mark.feature("A member that must give up little reads on while it does")
@both_clients
def test_reads_on(join: Join, cluster: Cluster, make_topic: MakeTopic) -> None:
    topic = make_topic(4)
    first = join(topic)
    wait_shared([first], places(topic, 4))
    fill(cluster, topic, 4, 40)
    wait_until(lambda: len(first.received) == 40)
    second = join(topic)
    values = fill(cluster, topic, 4, 40)
    wait_shared([first, second], places(topic, 4))
    wait_received([first, second], values)
    # Partitions that stay are read once: their positions were never lost.
    stayed = [(at, one.offset) for at, one in first.received if at in first.assigned]
    assert len(stayed) == len(set(stayed))


@pytest.mark.feature("Members subscribe to different topics, and to others later")
@both_clients
def test_subscriptions(join: Join, cluster: Cluster, make_topic: MakeTopic) -> None:
    left, right = make_topic(2), make_topic(2)
    one, two = join(left), join(right)
    wait_until(lambda: one.assigned == places(left, 2) and two.assigned == places(right, 2))
    one.ask(lambda consumer: consumer.subscribe([left, right]))  # type: ignore[attr-defined]
    two.ask(lambda consumer: consumer.subscribe([left]))  # type: ignore[attr-defined]
    wait_until(lambda: one.assigned == places(right, 2) and two.assigned == places(left, 2))
    wait_received([one, two], fill(cluster, right, 2))


@pytest.mark.feature("More members than partitions: some wait")
@both_clients
def test_spare_member(join: Join, topic: str) -> None:
    members = [join(topic) for _ in range(2)]
    wait_shared(members, places(topic, 1))
    holder = next(member for member in members if member.assigned)
    members.remove(holder)
    holder.close()
    wait_shared(members, places(topic, 1))


@pytest.mark.feature("A pattern is matched by the broker")
@both_clients
def test_pattern(join: Join, admin: AdminClient, topic_name: str) -> None:
    names = [f"{topic_name}.{n}" for n in "abc"]
    for future in admin.create_topics([NewTopic(name, 2) for name in names]).values():
        future.result(PATIENCE_SECONDS)
    members = [join(pattern=rf"{topic_name}\.[ab]") for _ in range(2)]
    wait_shared(members, places(names[0], 2) | places(names[1], 2))


@pytest.mark.feature("A pattern takes in topics that match later, and lets go of deleted ones")
@pytest.mark.parametrize("client", [CONFLUENT])
def test_pattern_later(join: Join, cluster: Cluster, admin: AdminClient, topic_name: str) -> None:
    names = [f"{topic_name}.{n}" for n in range(3)]

    def create(name: str) -> None:
        admin.create_topics([NewTopic(name, 2)])[name].result(PATIENCE_SECONDS)

    create(names[0])
    member = join(pattern=rf"{topic_name}\.[01]")
    wait_shared([member], places(names[0], 2))
    create(names[2])
    create(names[1])
    wait_shared([member], places(names[0], 2) | places(names[1], 2))
    wait_received([member], fill(cluster, names[1], 2))
    admin.delete_topics([names[0]])[names[0]].result(PATIENCE_SECONDS)
    wait_shared([member], places(names[1], 2))


@pytest.mark.feature("A pattern that is none is refused (INVALID_REGULAR_EXPRESSION)")
@pytest.mark.java
@pytest.mark.parametrize("client", [JAVA])
def test_invalid_pattern(join: Join) -> None:
    member = join(pattern="a(b")
    wait_refused(member, ErrorCode.INVALID_REGULAR_EXPRESSION)


@pytest.mark.feature("An assignor that the broker does not have is refused (UNSUPPORTED_ASSIGNOR)")
@both_clients
def test_unsupported_assignor(join: Join, topic: str) -> None:
    member = join(topic, assignor="guesswork")
    wait_refused(member, ErrorCode.UNSUPPORTED_ASSIGNOR)


@pytest.mark.feature("Static members: a restart within the session timeout moves nothing")
@both_clients
def test_static_restart(join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(4)
    one, two = join(topic, instance="one"), join(topic, instance="two")
    wait_shared([one, two], places(topic, 4))
    held, events = set(one.assigned), two.events()
    one.close()
    time.sleep(0.5)
    again = join(topic, instance="one")
    wait_until(lambda: again.assigned == held)
    assert two.events() == events
    assert two.assigned == places(topic, 4) - held


@pytest.mark.feature(
    "Static members: a second with the same id is refused (UNRELEASED_INSTANCE_ID)"
)
@both_clients
def test_static_twice(join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    old = join(topic, instance="one")
    wait_shared([old], places(topic, 2))
    new = join(topic, instance="one")
    wait_refused(new, ErrorCode.UNRELEASED_INSTANCE_ID)
    assert old.assigned == places(topic, 2)


def shorten_session(admin: AdminClient, group: str) -> None:
    """In the new protocol it is a setting of the group."""
    entry = ConfigEntry(
        "consumer.session.timeout.ms",
        str(SESSION_MS),
        incremental_operation=AlterConfigOpType.SET,
    )
    resource = ConfigResource(ResourceType.GROUP, group, incremental_configs=[entry])
    answer(admin.incremental_alter_configs([resource])[resource])


@pytest.mark.feature("A member that is killed loses its partitions after the session timeout")
@pytest.mark.parametrize("client", [CONFLUENT])
def test_killed_member(
    client: str,
    join: Join,
    admin: AdminClient,
    membership: Membership,
    make_topic: MakeTopic,
    group_id: str,
) -> None:
    topic = make_topic(4)
    shorten_session(admin, group_id)
    member = join(topic)
    wait_shared([member], places(topic, 4))
    other = membership.join_process(client, group_id, topic, SESSION_MS, "consumer")
    wait_until(lambda: len(member.assigned) == 2)
    other.kill()
    started = time.monotonic()
    wait_shared([member], places(topic, 4))
    assert time.monotonic() - started > SESSION_MS / 1000 - 1.5


@pytest.mark.feature("A member that exceeds max.poll.interval.ms leaves, and comes back")
@pytest.mark.java
@pytest.mark.parametrize("client", [JAVA])
def test_poll_interval(join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(4)
    slow = join(topic, poll_interval_ms=2_000)
    quick = join(topic)
    wait_shared([slow, quick], places(topic, 4))
    slow.polling = False
    wait_until(lambda: quick.assigned == places(topic, 4))
    slow.polling = True
    wait_shared([slow, quick], places(topic, 4))


@pytest.mark.feature("Partitions that a topic gains are shared out")
@both_clients
def test_added_partitions(
    join: Join, cluster: Cluster, admin: AdminClient, make_topic: MakeTopic
) -> None:
    topic = make_topic(2)
    members = [join(topic) for _ in range(2)]
    wait_shared(members, places(topic, 2))
    admin.create_partitions([NewPartitions(topic, 4)])[topic].result(PATIENCE_SECONDS)
    wait_shared(members, places(topic, 4))
    wait_received(members, fill(cluster, topic, 4))
    assert given_up(members[0]) | given_up(members[1]) <= places(topic, 2)


@pytest.mark.feature("A deleted topic leaves the group, the other topic is read on")
@both_clients
def test_deleted_topic(join: Join, cluster: Cluster, admin: AdminClient, topic_name: str) -> None:
    kept, gone = f"{topic_name}.kept", f"{topic_name}.gone"
    created = admin.create_topics([NewTopic(kept, 2), NewTopic(gone, 2)])
    for future in created.values():
        future.result(PATIENCE_SECONDS)
    member = join(pattern=rf"{topic_name}\..*")
    wait_shared([member], places(kept, 2) | places(gone, 2))
    admin.delete_topics([gone])[gone].result(PATIENCE_SECONDS)
    wait_shared([member], places(kept, 2))
    wait_received([member], fill(cluster, kept, 2))


@pytest.mark.feature("Commit what was read, or chosen offsets; the next member goes on from there")
@both_clients
def test_commit(join: Join, cluster: Cluster, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    fill(cluster, topic, 2, 20)
    first = join(topic)
    wait_until(lambda: len(first.received) == 20)
    first.ask(lambda consumer: consumer.commit())
    ten = {place: Committed(10) for place in places(topic, 2)}
    assert first.ask(lambda consumer: consumer.committed(places(topic, 2))) == ten
    chosen = {(topic, 1): Committed(7, "seen ✓")}
    first.ask(lambda consumer: consumer.commit(chosen))
    assert first.ask(lambda consumer: consumer.committed([(topic, 1)])) == chosen
    first.close()
    second = join(topic)
    wait_until(lambda: len(second.received) == 3)
    assert [(at, one.offset) for at, one in second.received] == [
        ((topic, 1), offset) for offset in (7, 8, 9)
    ]


@pytest.mark.feature("Automatic commits")
@both_clients
def test_auto_commit(join: Join, cluster: Cluster, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    fill(cluster, topic, 2, 20)
    member = join(topic, auto_commit=True)
    wait_until(lambda: len(member.received) == 20)
    member.close()
    found = join().ask(lambda consumer: consumer.committed(places(topic, 2)))
    assert found == {(topic, 0): Committed(10), (topic, 1): Committed(10)}


@pytest.mark.feature("Members of different clients in one group")
@pytest.mark.java
@pytest.mark.client(JAVA)
def test_mixed_clients(
    membership: Membership, cluster: Cluster, make_topic: MakeTopic, group_id: str
) -> None:
    topic, members = make_topic(6), []
    for name in (JAVA, CONFLUENT, JAVA):
        members.append(membership.join(name, group_id, topic, protocol="consumer"))
        wait_shared(members, places(topic, 6))
    wait_received(members, fill(cluster, topic, 6))
    members.pop(0).close()
    wait_shared(members, places(topic, 6))


# --- from the classic protocol and back -------------------------------------------------------


def roll(members: list[Member], joins: list[Callable[[], Member]], whole: set[Place]) -> None:
    """Replace each member by the next one, as a rolling restart does."""
    for index, join in enumerate(joins):
        members[index].close()
        members[index] = join()
        wait_shared(members, whole)


# Not librdkafka's cooperative-sticky: at times it leaves data of its own in an assignment, and
# neither broker upgrades a group that would lose such data.
@pytest.mark.feature("Online migration, classic to consumer and back, member by member")
@pytest.mark.parametrize(
    ("client", "strategy"),
    [
        (CONFLUENT, "range"),
        (CONFLUENT, "roundrobin"),
        pytest.param(JAVA, "range", marks=pytest.mark.java),
        pytest.param(JAVA, "cooperative-sticky", marks=pytest.mark.java),
    ],
)
def test_migration(
    strategy: str,
    client: str,
    membership: Membership,
    cluster: Cluster,
    admin: AdminClient,
    make_topic: MakeTopic,
    group_id: str,
) -> None:
    topic = make_topic(4)
    whole = places(topic, 4)
    common: dict[str, Any] = {"strategies": (strategy,), "auto_commit": True}
    old = partial(membership.join, client, group_id, topic, **common)
    new = partial(old, protocol="consumer")
    members = [old(), old()]
    wait_shared(members, whole)
    seen = list(members)
    for protocol, replacement in (("CONSUMER", new), ("CLASSIC", old)):
        values = fill(cluster, topic, 4)
        wait_received(seen, values)
        roll(members, [replacement, replacement], whole)
        seen[:] = members
        wait_described(admin, group_id, protocol)
    # The offsets came along: nothing was read again by those who came last.
    assert all(member.received == [] for member in members)


@pytest.mark.feature("Classic and new members share a group while it is migrated")
@pytest.mark.java
@pytest.mark.client(CONFLUENT)
def test_both_protocols(
    membership: Membership,
    cluster: Cluster,
    admin: AdminClient,
    make_topic: MakeTopic,
    group_id: str,
) -> None:
    topic = make_topic(6)
    members = [membership.join("kafka-python", group_id, topic)]
    wait_shared(members, places(topic, 6))
    for name in (CONFLUENT, JAVA):
        members.append(membership.join(name, group_id, topic, protocol="consumer"))
        wait_even(members, places(topic, 6))
    wait_described(admin, group_id, "CONSUMER")
    wait_received(members, fill(cluster, topic, 6))
    # The last members of the new protocol go: those that are left are a classic group.
    for _ in range(2):
        members.pop().close()
    wait_shared(members, places(topic, 6))
    wait_described(admin, group_id, "CLASSIC")


@pytest.mark.feature("Rolling upgrade from eager to cooperative (classic protocol)")
@pytest.mark.java
@pytest.mark.client(JAVA)
def test_eager_to_cooperative(
    membership: Membership, cluster: Cluster, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(4)
    join = partial(membership.join, JAVA, group_id, topic)
    eager = partial(join, strategies=("range",))
    either = partial(join, strategies=("cooperative-sticky", "range"))
    cooperative = partial(join, strategies=("cooperative-sticky",))
    members = [eager(), eager()]
    wait_shared(members, places(topic, 4))
    for step in (either, cooperative):
        roll(members, [step, step], places(topic, 4))
    wait_received(members, fill(cluster, topic, 4))
    # In the upgrade it may have had everything for a while, between one member and the next.
    before, since = set(members[0].assigned), len(members[0].events())
    members.append(cooperative())
    wait_shared(members, places(topic, 4))
    assert given_up(members[0], since) == before - members[0].assigned
