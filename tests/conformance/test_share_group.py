"""Share groups (KIP-932).

Records handed out one by one, and what becomes of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import AcknowledgeType, Message, Producer

from penstock.model.error import ErrorCode
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from penstock.protocol.messages.share_fetch import ShareFetchRequest
from penstock.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.record import PATIENCE_SECONDS, Record
from tests.conformance.clients.share import set_group, share_member
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

pytestmark = pytest.mark.client("confluent-kafka, share consumer")
MakeTopic = Callable[..., str]
HEARTBEAT, FETCH, ACKNOWLEDGE = 1, 2, 2


def fill(cluster: Cluster, topic: str, count: int, partitions: int = 1) -> list[bytes]:
    values = [b"%d" % n for n in range(count)]
    records = [Record(value, partition=n % partitions) for n, value in enumerate(values)]
    ConfluentClient(cluster.bootstrap_servers).produce(topic, records)
    return values


@pytest.fixture
def group(connection: Connection, group_id: str) -> str:
    """One that reads from the beginning."""
    set_group(connection, group_id, auto_offset_reset="earliest")
    return group_id


@pytest.mark.feature("Members of a share group take records of one partition in turn, each once")
def test_members_share_a_partition(cluster: Cluster, make_topic: MakeTopic, group: str) -> None:
    topic = make_topic(1)
    servers = cluster.bootstrap_servers
    with share_member(servers, group, topic) as one, share_member(servers, group, topic) as other:
        # Both are there before there is anything to share.
        wait_until(lambda: one.poll() + other.poll() == 0)
        expected: list[bytes] = []
        for n in range(30):
            expected += fill(cluster, topic, n + 1)[-1:]
        produced = sum(range(1, 31))
        wait_until(
            lambda: one.poll() + other.poll() >= 0 and len(one.seen) + len(other.seen) == produced
        )
        assert all(deliveries == 1 for _, deliveries in one.seen + other.seen)
        assert set(expected) <= set(one.values) | set(other.values)


@pytest.mark.feature("What is accepted or rejected never comes back; what is released does")
def test_accept_release_reject(cluster: Cluster, make_topic: MakeTopic, group: str) -> None:
    topic = make_topic(1)
    fill(cluster, topic, 9)
    kinds = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT)

    def judge(message: Message) -> AcknowledgeType:
        return kinds[int(message.value() or b"") % 3]

    servers = cluster.bootstrap_servers
    with share_member(servers, group, topic) as first:
        wait_until(lambda: first.poll(judge) > 0)
    with share_member(servers, group, topic) as second:
        wait_until(lambda: second.poll() >= 0 and len(second.seen) >= 3)
        assert second.poll() == 0
    assert sorted(second.seen) == [(b"1", 2), (b"4", 2), (b"7", 2)]


@pytest.mark.feature("A record whose lock has run out goes to another member")
def test_locks_run_out(
    cluster: Cluster, connection: Connection, make_topic: MakeTopic, group: str
) -> None:
    set_group(connection, group, record_lock_duration_ms="1000")
    topic = make_topic(1)
    fill(cluster, topic, 3)
    servers = cluster.bootstrap_servers
    with share_member(servers, group, topic) as slow, share_member(servers, group, topic) as quick:
        wait_until(lambda: slow.poll(lambda message: None) > 0)
        wait_until(lambda: quick.poll() >= 0 and len(quick.seen) == 3)
    assert quick.seen == [(b"0", 2), (b"1", 2), (b"2", 2)]


@pytest.mark.feature("A record is delivered as often as its group allows, and then no more")
def test_deliveries_are_limited(
    cluster: Cluster, connection: Connection, make_topic: MakeTopic, group: str
) -> None:
    set_group(connection, group, delivery_count_limit="2")
    topic = make_topic(1)
    fill(cluster, topic, 2)
    with share_member(cluster.bootstrap_servers, group, topic) as member:

        def judge(message: Message) -> AcknowledgeType:
            is_bad = message.value() == b"0"
            return AcknowledgeType.RELEASE if is_bad else AcknowledgeType.ACCEPT

        wait_until(lambda: member.poll(judge) >= 0 and len(member.seen) == 3)
        assert [member.poll(judge) for _ in range(3)] == [0, 0, 0]
    assert sorted(member.seen) == [(b"0", 1), (b"0", 2), (b"1", 1)]


@pytest.mark.feature("Records that come back again and again: half of them, then one by one")
def test_deliveries_are_held_back(cluster: Cluster, make_topic: MakeTopic, group: str) -> None:
    topic = make_topic(1)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 5_000})
    for n in range(8):
        producer.produce(topic, b"%d" % n, partition=0)
    assert producer.flush(PATIENCE_SECONDS) == 0
    sizes: list[int] = []
    with share_member(cluster.bootstrap_servers, group, topic) as member:

        def take() -> None:
            found = member.poll(lambda message: AcknowledgeType.RELEASE)
            sizes.extend([found] if found else [])

        wait_until(lambda: take() is None and len(member.seen) == 5 * 8)
    half = [4, 1, 1, 1, 1]
    assert sizes == [8, 8, 8, *half, *half]


@pytest.mark.feature("read_committed shows no record of an aborted transaction")
@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_isolation(
    cluster: Cluster, connection: Connection, make_topic: MakeTopic, group: str, level: str
) -> None:
    set_group(connection, group, isolation_level=level)
    topic = make_topic(1)
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": topic, "log_level": 0}
    )
    producer.init_transactions()
    for value, end in ((b"aborted", producer.abort_transaction), (b"committed", None)):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush()
        (end or producer.commit_transaction)()
    expected = {"read_committed": [b"committed"], "read_uncommitted": [b"aborted", b"committed"]}
    with share_member(cluster.bootstrap_servers, group, topic) as member:
        wait_until(lambda: member.poll() >= 0 and len(member.seen) == len(expected[level]))
        assert member.poll() == 0
    assert member.values == expected[level]


@pytest.mark.feature("A group begins at the end, or a while ago, as its settings say")
def test_where_a_group_begins(
    cluster: Cluster, connection: Connection, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(1)
    old = Record(b"old", timestamp=1_700_000_000_000)
    ConfluentClient(cluster.bootstrap_servers).produce(topic, [old, Record(b"new")])
    ago = f"{group_id}-ago"
    set_group(connection, ago, auto_offset_reset="by_duration:PT1H")
    servers = cluster.bootstrap_servers
    with share_member(servers, ago, topic) as member:
        wait_until(lambda: member.poll() > 0)
        assert member.values == [b"new"]
    with share_member(servers, group_id, topic) as last:

        def hears() -> bool:
            fill(cluster, topic, 1)
            return last.poll() > 0

        wait_until(hears)
        assert not {b"old", b"new"} & set(last.values)


@pytest.mark.feature("A share group is listed as one, and no group of another kind takes its name")
@pytest.mark.client("raw requests")
def test_listed(cluster: Cluster, connection: Connection, topic: str, group: str) -> None:
    with share_member(cluster.bootstrap_servers, group, topic) as member:
        member.poll()
        listed = ListGroupsRequest(types_filter=["Share"])

        def is_listed() -> bool:
            groups = connection.call(listed, 5).groups
            return any(one.group_id == group and one.group_type == "share" for one in groups)

        wait_until(lambda: member.poll() >= 0 and is_listed())


@pytest.mark.feature("Requests out of place are refused")
@pytest.mark.client("raw requests")
def test_refusals(connection: Connection, group_id: str) -> None:
    def beat(**fields: object) -> int:
        named = {"group_id": group_id, "member_id": "m", "subscribed_topic_names": ["t"]} | fields
        request = ShareGroupHeartbeatRequest(**named)  # type: ignore[arg-type]
        return int(connection.call(request, HEARTBEAT).error_code)

    assert beat(member_epoch=3) == ErrorCode.GROUP_ID_NOT_FOUND
    assert beat(member_epoch=-2) == ErrorCode.INVALID_REQUEST
    assert beat(member_id="") == ErrorCode.INVALID_REQUEST
    assert beat(subscribed_topic_names=None) == ErrorCode.INVALID_REQUEST

    def fetch(member: str, epoch: int) -> int:
        request = ShareFetchRequest(group_id=group_id, member_id=member, share_session_epoch=epoch)
        return int(connection.call(request, FETCH).error_code)

    assert fetch("m", 1) == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert fetch("m", -1) == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert fetch("", 0) == ErrorCode.INVALID_REQUEST
    assert fetch("m", 0) == ErrorCode.NONE
    assert fetch("m", 5) == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    request = ShareAcknowledgeRequest(group_id=group_id, member_id="m", share_session_epoch=0)
    found = connection.call(request, ACKNOWLEDGE).error_code
    assert found == ErrorCode.INVALID_SHARE_SESSION_EPOCH
