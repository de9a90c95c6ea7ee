"""Transactions, joins and forged records over the wire, for tests of coordinators."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from penstock.coordinator.topic import partition_of
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.records.builder import build_batch
from penstock.records.record import Record
from tests.node.commit_kit import TOPIC, wait_zero
from tests.node.wire_kit import Wire, produce, produced

SETTINGS = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3"}
ADMIN = "__admin_client"
"""The one client whom Kafka lets write internal topics."""


def delete(wire: Wire, topic: str) -> None:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=10_000)
    assert wire.call(request, 6).responses[0].error_code == 0


def begin(wire: Wire, name: str = "tx") -> Any:
    request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=60_000)
    answer: list[Any] = []

    def ask() -> int:
        answer[:] = [wire.call(request, 5)]
        code: int = answer[0].error_code
        return code

    wait_zero(ask)
    return answer[0]


def add(wire: Wire, producer: Any, topic: str = TOPIC, name: str = "tx") -> int:
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.producer_epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[0])],
    )
    (result,) = wire.call(request, 3).results_by_topic_v3_and_below
    code: int = result.results_by_partition[0].partition_error_code
    return code


def end(producer: Any, name: str = "tx") -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=name,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        committed=True,
    )


def join(member_id: str = "") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="joined",
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0" * 10)],
    )


def forge(wire: Wire, topic: str, name: str, *pairs: tuple[bytes, bytes]) -> None:
    """Written where the coordinator of `name` keeps its own, by the one client that may."""
    now_ms = time.time_ns() // 1_000_000
    data = build_batch([Record(at, now_ms, *pair, []) for at, pair in enumerate(pairs)])
    request = produce(topic, data, partition_of(name, 3))
    assert produced(wire.call_as(ADMIN, request, 12)).error_code == 0


def segment_of(home: Path, topic: str, name: str) -> Path:
    (found,) = (home / f"{topic}-{partition_of(name, 3)}").glob("*.log")
    return found


def offset_key(group: str) -> bytes:
    return b"\0\1" + text(group) + text(TOPIC) + (0).to_bytes(4, "big")


def text(value: str) -> bytes:
    return len(value).to_bytes(2, "big") + value.encode()


def offset_value(offset: int) -> bytes:
    """Version 3: offset, leader epoch, metadata, time."""
    return b"\0\3" + offset.to_bytes(8, "big") + b"\xff" * 4 + b"\0\0" + bytes(8)
