"""Transactions: markers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.conformance.clients.routed_wire import RoutedWire
from tests.conformance.clients.transaction_wire import RawProducer, fetch_committed, settled
from tests.conformance.conftest import Cluster
from tests.node.wire_kit import Wire

pytestmark = pytest.mark.client("raw requests")


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    with RoutedWire(cluster.bootstrap_servers) as wire:
        yield wire


def mark(
    wire: Wire, topic: str, producer: RawProducer, age: int = 2, version: int = 2, **more: Any
) -> int:
    options = {"transaction_result": False, "coordinator_epoch": 0} | more
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[0])],
        transaction_version=age,
        **options,
    )
    answer = wire.call(WriteTxnMarkersRequest(markers=[marker]), version)
    return int(answer.markers[0].topics[0].partitions[0].error_code)


def opened(wire: Wire, topic: str, name: str = "") -> RawProducer:
    # Twice, so that there is an epoch below.
    RawProducer.start(wire, topic + name)
    producer = RawProducer.start(wire, topic + name)
    assert settled(lambda: producer.send(topic, b"a")) == ErrorCode.NONE
    return producer


@pytest.mark.feature("A marker of version 2 needs a higher epoch than the records")
def test_epochs(wire: Wire, topic: str) -> None:
    producer = opened(wire, topic)
    raised = producer.but(epoch=producer.epoch + 1)
    found = {
        "same epoch, version 2": mark(wire, topic, producer),
        "stale epoch": mark(wire, topic, producer.but(epoch=producer.epoch - 1), age=0),
        "stable before": fetch_committed(wire, topic).last_stable_offset,
        "higher epoch": mark(wire, topic, raised),
        "stable": fetch_committed(wire, topic).last_stable_offset,
        "again": mark(wire, topic, raised),
        "again, older": mark(wire, topic, raised, age=0),
        "end": fetch_committed(wire, topic).high_watermark,
        "before": mark(wire, topic, producer),
    }
    assert found == {
        "same epoch, version 2": ErrorCode.INVALID_PRODUCER_EPOCH,
        "stale epoch": ErrorCode.INVALID_PRODUCER_EPOCH,
        "stable before": 0,
        "higher epoch": ErrorCode.NONE,
        "stable": 2,
        "again": ErrorCode.NONE,
        "again, older": ErrorCode.NONE,
        "end": 4,
        "before": ErrorCode.INVALID_PRODUCER_EPOCH,
    }


@pytest.mark.feature("Markers before version 2: the epoch of the records, or a higher one")
def test_older(wire: Wire, topic: str) -> None:
    producer = opened(wire, topic)
    found = {
        "same": mark(wire, topic, producer, age=1),
        "stable": fetch_committed(wire, topic).last_stable_offset,
        "again": mark(wire, topic, producer, age=1),
        "end": fetch_committed(wire, topic).high_watermark,
    }
    second = opened(wire, topic, "-second")
    found |= {
        "first version": mark(wire, topic, second, version=1, age=0),
        "nobody": mark(wire, topic, second.but(producer_id=10**9)),
        "no topic": mark(wire, topic + "-x", second),
        "coordinator epoch": mark(wire, topic, second, age=0, coordinator_epoch=5),
        "older coordinator": mark(wire, topic, second, age=0, coordinator_epoch=4),
    }
    assert found == {
        "same": ErrorCode.NONE,
        "stable": 2,
        "again": ErrorCode.NONE,
        "end": 3,
        "first version": ErrorCode.NONE,
        "nobody": ErrorCode.NONE,
        "no topic": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "coordinator epoch": ErrorCode.NONE,
        "older coordinator": ErrorCode.TRANSACTION_COORDINATOR_FENCED,
    }
