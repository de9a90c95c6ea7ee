"""A share group in a cluster of Apache Kafka's and our brokers: members, partitions and kept state
are with both, and each asks the other for what it has."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.record import Record
from tests.conformance.clients.share import set_group, share_member
from tests.conformance.conftest import wait_for_leaders
from tests.mixed.mixed_kit import KafkaNode, Kind, MixedCluster, PenstockNode
from tests.patience import PATIENCE_S, wait_until

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]

TOPIC, STATE = "work", "__share_group_state"
PARTITIONS, COUNT = 6, 120
GROUPS = ("first", "second")
SETTINGS = {
    "group.share.heartbeat.interval.ms": "300",
    "group.share.min.heartbeat.interval.ms": "300",
    "share.coordinator.state.topic.num.partitions": "6",
    "share.coordinator.state.topic.replication.factor": "2",
    "share.coordinator.state.topic.min.isr": "1",
    "offsets.topic.replication.factor": "2",
    "transaction.state.log.replication.factor": "2",
}


def leaders(admin: AdminClient, topic: str) -> set[int]:
    return {one.leader for one in admin.list_topics(topic).topics[topic].partitions.values()}


def prepare(servers: str) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 2)])[TOPIC].result(PATIENCE_S)
    wait_for_leaders(admin, TOPIC, PARTITIONS)
    with closing(Connection(servers)) as connection:
        for group in GROUPS:
            set_group(connection, group, auto_offset_reset="earliest")
    records = [Record(b"%d" % n, partition=n % PARTITIONS) for n in range(COUNT)]
    ConfluentClient(servers).produce(TOPIC, records)
    return admin


def takes(servers: str, group: str, count: int) -> None:
    """So many records, each once, and then no more."""
    with share_member(servers, group, TOPIC) as member:
        wait_until(lambda: member.poll() >= 0 and len(member.seen) >= count)
        assert [member.poll() for _ in range(4)] == [0] * 4
    assert len(member.seen) == len(set(member.values)) == count


def test_brokers_of_both_kinds(tmp_path: Path) -> None:
    brokers: dict[int, Kind] = {2: PenstockNode, 3: KafkaNode}
    with MixedCluster(tmp_path, {1: PenstockNode}, brokers, SETTINGS) as cluster:
        servers = cluster.bootstrap_servers
        admin = prepare(servers)
        for group in GROUPS:
            takes(servers, group, COUNT)
        takes(servers, GROUPS[0], 0)
        assert leaders(admin, TOPIC) == leaders(admin, STATE) == {2, 3}
