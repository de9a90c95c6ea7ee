"""A node that dies before a transaction that shall end has its markers ends it when it is back."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from penstock.coordinator.marker_writer import MarkerWriter
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from penstock.protocol.messages.describe_transactions import DescribeTransactionsRequest
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.records.control import parse_end_marker
from penstock.records.header import iter_batches
from penstock.records.record import iter_records
from tests.node.node_kit import running
from tests.node.test_full_disk import create
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    fetch,
    fetched,
    part,
    produce,
    produced,
    recent,
    values,
)

ID = "copier"


async def never(*_: object) -> None:
    await asyncio.Event().wait()


def patient(wire: Wire, request: Any, version: int) -> Any:
    """The coordinator's topic is made with the first request for it."""
    deadline = time.monotonic() + 30
    while True:
        response = wire.call(request, version)
        found = response.coordinators[0] if hasattr(response, "coordinators") else response
        if not found.error_code or time.monotonic() > deadline:
            assert not found.error_code
            return response
        time.sleep(0.05)


def wait_state(wire: Wire, wanted: str) -> None:
    deadline = time.monotonic() + 30
    state = ""
    while state != wanted and time.monotonic() < deadline:
        response = wire.call(DescribeTransactionsRequest(transactional_ids=[ID]), 0)
        state = response.transaction_states[0].transaction_state
        time.sleep(0.02)
    assert state == wanted


def open_transaction(wire: Wire) -> dict[str, Any]:
    """With one record; whose it is."""
    assert wire.call(create("t"), 7).topics[0].error_code == 0
    patient(wire, FindCoordinatorRequest(key_type=1, coordinator_keys=[ID]), 4)
    begun = patient(
        wire, InitProducerIdRequest(transactional_id=ID, transaction_timeout_ms=60_000), 4
    )
    producer: dict[str, Any] = {
        "producer_id": begun.producer_id,
        "producer_epoch": begun.producer_epoch,
    }
    added = wire.call(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=ID,
            v3_and_below_producer_id=begun.producer_id,
            v3_and_below_producer_epoch=begun.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[0])],
        ),
        3,
    )
    (topic,) = added.results_by_topic_v3_and_below
    assert topic.results_by_partition[0].partition_error_code == 0
    data = recent(b"inside", base_sequence=0, is_transactional=True, **producer)
    answer = produced(wire.call(produce("t", data, transactional_id=ID), PRODUCE_VERSION - 1))
    assert answer.error_code == 0
    return producer


def end_without_markers(wire: Wire, commit: bool) -> None:
    producer = open_transaction(wire)
    wire.send(EndTxnRequest(transactional_id=ID, committed=commit, **producer), 3)


def markers(partition: Any) -> list[bool]:
    data = memoryview(partition.records or b"")
    found = [
        parse_end_marker(record)
        for position, header in iter_batches(data, 0, len(data))
        if header.is_control
        for record in iter_records(data[position : position + header.size])
    ]
    return [marker.commit for marker in found if marker is not None]


@pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
def test_it_is_completed_after_the_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commit: bool
) -> None:
    outcome = "Commit" if commit else "Abort"
    with monkeypatch.context() as patch:
        patch.setattr(MarkerWriter, "write", never)
        with running(tmp_path / "data") as node:
            with Wire(node.address, 60) as producer, Wire(node.address, 60) as wire:
                end_without_markers(producer, commit)
                wait_state(wire, f"Prepare{outcome}")
                before = fetched(wire.call(fetch({"t": [part()]}), FETCH_VERSION))["t", 0]
                assert (before.last_stable_offset, markers(before)) == (0, [])
            node.abandon()
    with running(tmp_path / "data") as node, Wire(node.address, 60) as wire:
        wait_state(wire, f"Complete{outcome}")
        after = fetched(wire.call(fetch({"t": [part()]}, isolation_level=1), FETCH_VERSION))["t", 0]
        assert after.last_stable_offset == after.high_watermark == 2
        assert markers(after) == [commit], "written once"
        assert values(after) == [b"inside"]
        assert [one.first_offset for one in after.aborted_transactions or []] == [0] * (not commit)
