"""Offsets and transactional ids that nobody uses."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_transactions import DescribeTransactionsRequest
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.conformance.clients.membership import Membership, places, wait_shared
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.clients.routed_wire import RoutedWire
from tests.conformance.clients.transaction_wire import (
    GROUP,
    RawProducer,
    committed_offset,
    find_coordinator,
    settled,
)
from tests.conformance.conftest import BROKER_SETTINGS, wait_for_leaders
from tests.conformance.own_broker import own_broker
from tests.node.wire_kit import Wire
from tests.patience import wait_until

EXPIRY_MS = 3_000
RETENTION_MS = 3_000
SETTINGS = BROKER_SETTINGS | {
    "offsets.topic.num.partitions": "1",
    "offsets.retention.check.interval.ms": "100",
    "transaction.state.log.num.partitions": "1",
    "transactional.id.expiration.ms": str(EXPIRY_MS),
    "transaction.remove.expired.transaction.cleanup.interval.ms": "100",
}
READ, UNREAD = "read", "unread"
PROTOCOLS = ("classic", "consumer")
# The last version by which a commit says how long it is good for.
TIMED_COMMIT = 4


@pytest.fixture(scope="module")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A broker of its own, that soon forgets."""
    data_dir = tmp_path_factory.mktemp("expiry") / "data"
    with own_broker(request.config, data_dir, SETTINGS) as broker:
        yield _with_topics(broker)


def _with_topics(broker: Any) -> Any:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    for future in admin.create_topics([NewTopic(name, 1) for name in (READ, UNREAD)]).values():
        future.result(PATIENCE_SECONDS)
    for name in (READ, UNREAD):
        wait_for_leaders(admin, name, 1)
    return broker


@pytest.fixture
def wire(broker: Any) -> Iterator[Wire]:
    with RoutedWire(broker.bootstrap_servers) as wire:
        yield wire


def commit(wire: Wire, group: str, topic: str, retention_ms: int) -> int:
    place = OffsetCommitRequestPartition(partition_index=0, committed_offset=3)
    request = OffsetCommitRequest(
        group_id=group,
        retention_time_ms=retention_ms,
        topics=[OffsetCommitRequestTopic(name=topic, partitions=[place])],
    )
    return int(wire.call(request, TIMED_COMMIT).topics[0].partitions[0].error_code)


def offset(wire: Wire, group: str, topic: str) -> int:
    code, found = committed_offset(wire, group, topic, stable=False)
    assert code == ErrorCode.NONE
    return found


def listed(wire: Wire) -> set[str]:
    return {one.group_id for one in wire.call(ListGroupsRequest(), 5).groups}


@pytest.mark.feature("Offsets whose time is over go, not those of topics that members read")
@pytest.mark.client("confluent-kafka")
def test_offsets(broker: Any, wire: Wire) -> None:
    membership = Membership(broker.bootstrap_servers)
    try:
        members = []
        for group in PROTOCOLS:
            find_coordinator(wire, GROUP, group)
            for topic in (READ, UNREAD):
                assert settled(lambda g=group, t=topic: commit(wire, g, t, RETENTION_MS)) == 0  # type: ignore[misc]
            members.append(membership.join("confluent-kafka", group, READ, protocol=group))
            wait_shared(members[-1:], places(READ, 1))
        for group in PROTOCOLS:
            wait_until(lambda group=group: offset(wire, group, UNREAD) == -1)  # type: ignore[misc]
            assert offset(wire, group, READ) == 3
    finally:
        membership.close()
    # Now nobody reads it; and a group without anything is none.
    wait_until(lambda: [offset(wire, group, READ) for group in PROTOCOLS] == [-1, -1])
    wait_until(lambda: listed(wire).isdisjoint(PROTOCOLS))


@pytest.mark.feature("Offsets without a time of their own are kept (offsets.retention.minutes)")
@pytest.mark.client("raw requests")
def test_kept(wire: Wire) -> None:
    find_coordinator(wire, GROUP, "kept")
    assert settled(lambda: commit(wire, "kept", READ, -1)) == ErrorCode.NONE
    time.sleep(0.5)
    assert offset(wire, "kept", READ) == 3
    assert "kept" in listed(wire)


def state(wire: Wire, transactional_id: str) -> str:
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    found = wire.call(request, 0).transaction_states[0]
    if found.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
        return "not found"
    assert found.error_code == ErrorCode.NONE
    return str(found.transaction_state)


@pytest.mark.feature(
    "Transactional ids are forgotten (transactional.id.expiration.ms), none in use"
)
@pytest.mark.client("raw requests")
def test_transactional_ids(wire: Wire) -> None:
    started = time.monotonic()
    idle, busy = RawProducer.start(wire, "idle"), RawProducer.start(wire, "busy")
    assert settled(lambda: busy.send(READ, b"a")) == ErrorCode.NONE
    assert (state(wire, "idle"), state(wire, "busy")) == ("Empty", "Ongoing")
    wait_until(lambda: state(wire, "idle") == "not found")
    assert time.monotonic() - started > EXPIRY_MS / 1000
    assert idle.end(True).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert idle.add(READ) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert RawProducer.start(wire, "idle").producer_id != idle.producer_id
    assert state(wire, "busy") == "Ongoing"
    busy.commit()
    wait_until(lambda: state(wire, "busy") == "CompleteCommit")
    wait_until(lambda: state(wire, "busy") == "not found")
