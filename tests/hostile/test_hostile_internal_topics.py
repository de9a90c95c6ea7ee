"""The coordinators' topics in the hands of clients: written, deleted, filled."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import pytest

from penstock.coordinator.topic import CONSUMER_OFFSETS, TRANSACTION_STATE
from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.hostile.target import Target
from tests.node.commit_kit import TOPIC, commit, commit_error, committed, create, wait_zero
from tests.node.coordinator_kit import (
    SETTINGS,
    add,
    begin,
    delete,
    end,
    forge,
    offset_key,
    offset_value,
)
from tests.node.wire_kit import Wire, batch, produce, produced, topic_id

pytestmark = pytest.mark.penstock(settings=SETTINGS)

INTERNAL = {CONSUMER_OFFSETS: 0, TRANSACTION_STATE: 1}
"""And the kind of coordinator that each belongs to."""


def find(wire: Wire, kind: int, name: str) -> int:
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[name])
    code: int = wire.call(request, 4).coordinators[0].error_code
    return code


def start_groups(wire: Wire, offset: int, group: str = "g") -> None:
    wire.call(create(TOPIC), 7)
    keep_group(wire, offset, group)


def keep_group(wire: Wire, offset: int, group: str = "g") -> None:
    """As a client does: it looks for the coordinator whenever it is told to."""

    def commit_once() -> int:
        return find(wire, 0, group) or commit_error(wire.call(commit(offset, group), 8))

    wait_zero(commit_once, 20)


def test_internal_topics_are_not_for_clients_to_write(target: Target) -> None:
    with target.wire() as wire, target.watched("produce to internal topics"):
        for (name, kind), number in itertools.product(INTERNAL.items(), range(20)):
            wait_zero(lambda kind=kind: find(wire, kind, "x"), 20)
            request = produce(name, batch(b"v", b"w"))
            assert produced(wire.call(request, 12)).error_code == 17, (name, number)
            request.topic_data[0].topic_id = topic_id(wire, name)
            assert produced(wire.call(request, 13)).error_code == 17, (name, number)
            partition = DeleteRecordsPartition(partition_index=0, offset=0)
            topic = DeleteRecordsTopic(name=name, partitions=[partition])
            found = wire.call(DeleteRecordsRequest(topics=[topic], timeout_ms=5000), 2)
            assert found.topics[0].partitions[0].error_code == 17
            wait_zero(lambda: find(wire, 1, "tx"), 20)
            assert add(wire, begin(wire), name) == ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_an_internal_topic_that_is_looked_at_first_is_made_as_it_must_be(target: Target) -> None:
    """Without compaction, and with the partitions of any other topic, it would lose groups."""
    asked = [MetadataRequestTopic(name=name) for name in INTERNAL]
    with target.wire() as wire, target.watched("Metadata of internal topics"):
        deadline = time.monotonic() + 20
        while True:
            found = wire.call(MetadataRequest(topics=asked, allow_auto_topic_creation=True), 12)
            if not any(topic.error_code for topic in found.topics):
                break
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert [len(topic.partitions) for topic in found.topics] == [3, 3]


def test_records_that_nobody_can_read(target: Target) -> None:
    """Forged by a client that Kafka lets write them; the next start reads past them."""
    if not target.is_penstock:
        pytest.skip("Apache Kafka's coordinator does not load past a value that is cut off")
    with target.wire() as wire:
        start_groups(wire, 7)
        for number in range(200):
            value = offset_value(999_999)[: number % 12]
            forge(
                wire, CONSUMER_OFFSETS, "g", (offset_key("g"), value), (b"\x7f\0%d" % number, b"")
            )
    target.broker.restart()
    with target.wire() as wire, target.watched("a coordinator's log full of garbage"):
        wait_zero(lambda: commit_error(wire.call(commit(8, "other"), 8)), 20)
        assert committed(wire, "g") == 7
        keep_group(wire, 8)
        assert committed(wire, "g") == 8
    assert target.log.count("not all of its log") == 2
    assert "Traceback" not in target.log


def test_internal_topics_are_deleted_again_and_again(target: Target) -> None:
    with target.wire() as wire, target.watched("DeleteTopics of internal topics"):
        start_groups(wire, 7)
        for number in range(3):
            delete(wire, CONSUMER_OFFSETS)
            keep_group(wire, number)
            assert committed(wire, "g") == number
            wait_zero(lambda: find(wire, 1, "tx"), 20)
            producer = begin(wire)
            assert add(wire, producer) == 0
            delete(wire, TRANSACTION_STATE)
            wire.call(end(producer), 3)
            wait_zero(lambda: find(wire, 1, "tx"), 20)
            producer = begin(wire)
            assert add(wire, producer) == 0
            assert wire.call(end(producer), 3).error_code == 0
    target.broker.restart()
    with target.wire() as wire:
        wait_zero(lambda: find(wire, 0, "g"), 20)
        wait_zero(lambda: 0 if committed_or_none(wire) == 2 else 14, 20)
    if target.is_penstock:
        assert "Traceback" not in target.log


def committed_or_none(wire: Wire) -> int | None:
    try:
        return committed(wire, "g")
    except IndexError:
        return None


def test_a_topic_comes_and_goes_under_its_producers(target: Target) -> None:
    with target.wire() as wire, target.watched("a topic made and deleted under its producers"):
        seen: set[int] = set()
        for number in range(30):
            wire.call(create("fleeting"), 7)
            seen.update(answers(wire, number))
            delete(wire, "fleeting")
            seen.update(answers(wire, number))
        assert 0 in seen
        assert seen <= {0, 3, 6, 100}, "written, unknown, not here any more"


def answers(wire: Wire, number: int) -> Iterator[int]:
    for _ in range(10):
        yield produced(wire.call(produce("fleeting", batch(b"%d" % number)), 12)).error_code


def test_one_client_makes_thousands_of_groups(target: Target) -> None:
    with target.wire() as wire:
        start_groups(wire, 1)
        with target.watched("20,000 groups of one client", memory_mb_max=100):
            for begin_at in range(0, 20_000, 100):
                for number in range(begin_at, begin_at + 100):
                    wire.send(commit(1, f"group-{number}"), 8)
                for _ in range(100):
                    assert commit_error(wire.receive()) == 0


def test_more_partitions_than_a_request_may_ask_for(target: Target) -> None:
    with target.wire() as wire, target.watched("CreateTopics with 10,001 partitions"):
        for counts in ([10_001], [2**31 - 1], [5_000, 5_001]):
            topics = [
                CreatableTopic(name=f"wide{at}", num_partitions=count, replication_factor=1)
                for at, count in enumerate(counts)
            ]
            found = wire.call(CreateTopicsRequest(topics=topics, timeout_ms=10_000), 7).topics
            assert {topic.error_code for topic in found} == {ErrorCode.POLICY_VIOLATION}
