"""A share group whose broker is Apache Kafka, then Penstock, then Apache Kafka again, over one
directory: what was acknowledged at one of them is done with at the others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import AcknowledgeType, Message
from confluent_kafka.admin import AdminClient, NewTopic

from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.record import Record
from tests.conformance.clients.share import set_group, share_member
from tests.conformance.conftest import wait_for_leaders
from tests.patience import wait_until
from tools.brief_kafka import brief_kafka

pytestmark = [pytest.mark.java, pytest.mark.timeout(300)]

TOPIC, GROUP, COUNT = "shared", "sharers", 9
SETTINGS = {
    "group.share.heartbeat.interval.ms": "200",
    "group.share.min.heartbeat.interval.ms": "200",
    "group.share.assignment.interval.ms": "100",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "200",
}


def prepare(servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result(30)
    wait_for_leaders(admin, TOPIC, 1)
    ConfluentClient(servers).produce(TOPIC, [Record(b"%d" % n) for n in range(COUNT)])
    with closing(Connection(servers)) as connection:
        set_group(connection, GROUP, auto_offset_reset="earliest")


def accept_third(servers: str, rest: int) -> dict[bytes, int]:
    """Takes what there is once, accepts what leaves this rest, and releases the others."""

    def judge(message: Message) -> AcknowledgeType:
        is_mine = int(message.value() or b"") % 3 == rest
        return AcknowledgeType.ACCEPT if is_mine else AcknowledgeType.RELEASE

    with share_member(servers, GROUP, TOPIC) as member:
        wait_until(lambda: member.poll(judge) > 0)
    return dict(member.seen)


def test_brokers_take_turns(tmp_path: Path, penstock_factory: Callable[..., Any]) -> None:
    data = tmp_path / "data"
    with brief_kafka(data, SETTINGS) as kafka:
        prepare(kafka.bootstrap_servers)
        first = accept_third(kafka.bootstrap_servers, 0)
    assert first == {b"%d" % n: 1 for n in range(COUNT)}
    broker = penstock_factory(data_dir=data, settings=SETTINGS)
    second = accept_third(broker.bootstrap_servers, 1)
    assert second == {b"%d" % n: 2 for n in range(COUNT) if n % 3}
    broker.stop()
    with brief_kafka(data, SETTINGS) as kafka:
        third = accept_third(kafka.bootstrap_servers, 2)
    assert third == {b"%d" % n: 3 for n in range(COUNT) if n % 3 == 2}
