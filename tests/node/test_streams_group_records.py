"""Streams groups over the wire: their internal topics are made, or members hear why not; and what
is written is read by Apache Kafka's own tool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from penstock.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from penstock.testing.broker import Broker
from tests.node.wire_kit import Wire
from tests.patience import wait_until
from tests.transcripts.streams_script import topology_of
from tools.tool_host import shared_tool_host

GROUP = "words"
TOPOLOGY = (
    "0 in:lines out:words-by-word-repartition/1 via:words-by-word-repartition store:words-changelog"
)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    settings = {
        "offsets.topic.num.partitions": "1",
        "group.streams.initial.rebalance.delay.ms": "0",
        "group.streams.assignment.interval.ms": "0",
    }
    with Broker(tmp_path / "data", settings) as broker:
        yield broker


class Member:
    def __init__(self, wire: Wire, factor: int = 0) -> None:
        self._wire = wire
        self.epoch = 0
        self.topology = topology_of(TOPOLOGY)
        self.topology.subtopologies[1].state_changelog_topics[0].replication_factor = factor

    def beat(self) -> StreamsGroupHeartbeatResponse:
        joins = self.epoch == 0
        request = StreamsGroupHeartbeatRequest(
            group_id=GROUP,
            member_id="m",
            member_epoch=self.epoch,
            rebalance_timeout_ms=60_000 if joins else -1,
            topology=self.topology if joins else None,
            active_tasks=[] if joins else None,
            standby_tasks=[] if joins else None,
            warmup_tasks=[] if joins else None,
            process_id="p" if joins else None,
        )
        answer: StreamsGroupHeartbeatResponse = self._wire.call(request, 0)
        if not answer.error_code:
            self.epoch = answer.member_epoch
        return answer

    def details(self) -> str:
        return " ".join(one.status_detail for one in self.beat().status or ())

    def has_tasks(self) -> bool:
        answer = self.beat()
        return not answer.error_code and bool(answer.active_tasks)


def find_coordinator(wire: Wire) -> None:
    asked = FindCoordinatorRequest(coordinator_keys=[GROUP])
    wait_until(lambda: not wire.call(asked, 4).coordinators[0].error_code)


def test_topics_are_made(broker: Broker) -> None:
    broker.create_topic("lines", 2)
    with Wire(broker.bootstrap_servers) as wire:
        find_coordinator(wire)
        member = Member(wire)
        wait_until(member.has_tasks)
        asked = StreamsGroupDescribeRequest(group_ids=[GROUP])
        (group,) = wire.call(asked, 0).groups
        assert group.group_state == "Stable"
        broker.kill()
        broker.start()
    with Wire(broker.bootstrap_servers) as wire:
        wait_until(lambda: wire.call(asked, 0).groups == [group])


def test_what_could_not_be_made_is_told(broker: Broker) -> None:
    broker.create_topic("lines", 2)
    with Wire(broker.bootstrap_servers) as wire:
        find_coordinator(wire)
        member = Member(wire, factor=3)
        wait_until(lambda: "; Creation failed: words-changelog (" in member.details())
        assert member.beat().active_tasks is None


@pytest.mark.java
def test_apache_kafka_reads_the_records(broker: Broker, tmp_path: Path) -> None:
    broker.create_topic("lines", 2)
    with Wire(broker.bootstrap_servers) as wire:
        find_coordinator(wire)
        wait_until(Member(wire).has_tasks)
    broker.stop()
    (log,) = (tmp_path / "data").rglob("__consumer_offsets-0/*.log")
    words = ["--files", str(log), "--offsets-decoder", "--print-data-log"]
    told = shared_tool_host().run("kafka-dump-log", words).stdout
    assert '"type":"17","data":{"groupId":"words"}' in told
    assert '"subtopologyId":"1","partitions":[0,1],"assignmentEpochs":[' in told
    assert '"sourceTopics":["lines"]' in told
    assert "Could not decode" not in told and "Error" not in told
