"""Kafka's command line tools: share groups.

With Kafka's Java share consumer among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.record import Record
from tests.conformance.clients.share import ShareMember, set_group, share_member
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

pytestmark = pytest.mark.java
Tool = Callable[..., str]
MakeTopic = Callable[..., str]
TOOL = pytest.mark.client("kafka-share-groups")
NO_OFFSET = "-"


def rows(said: str) -> list[list[str]]:
    return [line.split() for line in said.splitlines() if line.strip()]


@pytest.fixture
def group(connection: Connection, group_id: str) -> str:
    set_group(connection, group_id, auto_offset_reset="earliest")
    return group_id


@pytest.fixture
def topic(cluster: Cluster, make_topic: MakeTopic) -> str:
    """Five records in each of two partitions."""
    topic = make_topic(2)
    records = [Record(b"%d" % n, partition=n % 2) for n in range(10)]
    ConfluentClient(cluster.bootstrap_servers).produce(topic, records)
    return topic


@pytest.fixture
def member(cluster: Cluster, topic: str, group: str) -> Iterator[ShareMember]:
    with share_member(cluster.bootstrap_servers, group, topic) as member:
        wait_until(lambda: member.poll() >= 0 and len(member.seen) == 10)
        yield member


@pytest.fixture
def left(cluster: Cluster, topic: str, group: str) -> str:
    """A group that has read everything and has no members any more."""
    with share_member(cluster.bootstrap_servers, group, topic) as member:
        wait_until(lambda: member.poll() >= 0 and len(member.seen) == 10)
    return group


def lags(tool: Tool, group: str) -> dict[str, str]:
    said = rows(tool("kafka-share-groups", "--describe", "--group", group))
    return {row[2]: row[4] for row in said if row[0] == group and len(row) == 5}


@pytest.mark.feature("Records are accepted, released and rejected")
@pytest.mark.client("kafka-console-share-consumer")
def test_console_consumer(tool: Tool, topic: str, group: str) -> None:
    read = ("kafka-console-share-consumer", "--topic", topic, "--group", group)
    ends = ("--max-messages", "10", "--timeout-ms", "30000")
    values = {str(n) for n in range(10)}
    assert values <= set(tool(*read, *ends, "--release").split())
    assert values <= set(tool(*read, *ends, "--reject").split())
    again = tool(*read, "--timeout-ms", "1500").split("\n")
    assert not values & set(again)


@pytest.mark.feature("--list with states; --describe: offsets, members, state")
@TOOL
def test_list_and_describe(tool: Tool, topic: str, group: str, member: ShareMember) -> None:
    assert [group, "Stable"] in rows(tool("kafka-share-groups", "--list", "--state"))
    assert [group, "Share", "share"] in rows(tool("kafka-groups", "--list"))
    wait_until(lambda: lags(tool, group) == {"0": "0", "1": "0"})

    def described(*how: str) -> list[list[str]]:
        said = rows(tool("kafka-share-groups", "--describe", "--group", group, *how))
        return [row for row in said if row[0] == group]

    (row,) = described("--members")
    assert row[-1] == f"{topic}:0,1"
    (row,) = described("--state")
    assert row[-2:] == ["Stable", "1"]


@pytest.mark.feature("--reset-offsets to the beginning, the end and a time; what is read then")
@TOOL
def test_reset(cluster: Cluster, tool: Tool, topic: str, left: str) -> None:
    def reset(*to: str) -> dict[str, str]:
        named = ("--reset-offsets", "--group", left, "--topic", topic, "--execute")
        said = rows(tool("kafka-share-groups", *named, *to))
        return {row[-2]: row[-1] for row in said if row[:2] == [left, topic]}

    assert reset("--to-earliest") == {"0": "0", "1": "0"}
    assert lags(tool, left) == {"0": "5", "1": "5"}
    with share_member(cluster.bootstrap_servers, left, topic) as again:
        wait_until(lambda: again.poll() >= 0 and len(again.seen) == 10)
    assert reset("--to-latest") == {"0": "5", "1": "5"}
    assert reset("--to-datetime", "2020-01-01T00:00:00.000") == {"0": "0", "1": "0"}


@pytest.mark.feature("--delete-offsets: the group begins anew")
@TOOL
def test_delete_offsets(cluster: Cluster, tool: Tool, topic: str, left: str) -> None:
    said = tool("kafka-share-groups", "--delete-offsets", "--group", left, "--topic", topic)
    assert [topic, "Successful"] in rows(said)
    assert not lags(tool, left)
    with share_member(cluster.bootstrap_servers, left, topic) as again:
        wait_until(lambda: again.poll() >= 0 and len(again.seen) == 10)


@pytest.mark.feature("--delete: refused while there are members")
@TOOL
def test_delete(tool: Tool, topic: str, group: str, member: ShareMember) -> None:
    said = tool("kafka-share-groups", "--delete", "--group", group)
    assert "not empty" in said.lower()
    member.close()
    wait_until(
        lambda: "successful" in tool("kafka-share-groups", "--delete", "--group", group).lower()
    )
    assert [group] not in rows(tool("kafka-share-groups", "--list"))
