"""Commits that arrive together are written together, and none is answered before it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.model.error import RETRIABLE, ErrorCode
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
)
from penstock.records.header import iter_batches
from tests.node.commit_kit import (
    SAFETIES,
    TOPIC,
    commit,
    commit_error,
    committed,
    create,
    fetch_error,
    wait_zero,
)
from tests.node.node_kit import FailingDisk, RunningNode, running
from tests.node.wire_kit import Wire

VERSION = 8
ONE_PARTITION = {"offsets.topic.num.partitions": "1"}


@pytest.fixture(params=SAFETIES)
def settings(request: pytest.FixtureRequest) -> dict[str, str]:
    """Acknowledged when on disk, or when written."""
    return ONE_PARTITION | SAFETIES[request.param]


def ready(wire: Wire) -> None:
    assert wire.call(create(TOPIC), 7).topics[0].error_code == 0
    wait_zero(lambda: commit_error(wire.call(commit(1), VERSION)))


def batch_sizes(node: RunningNode) -> list[int]:
    """Records in each batch of the offsets' log."""
    (path,) = Path(node.node.log_dirs.metadata.path).glob("__consumer_offsets-0/*.log")
    data = memoryview(path.read_bytes())
    return [header.record_count for _, header in iter_batches(data, 0, len(data))]


def test_one_batch_for_what_came_in_one_piece(tmp_path: Path, settings: dict[str, str]) -> None:
    with running(tmp_path / "data", settings=settings) as node, Wire(node.address) as wire:
        ready(wire)
        before = batch_sizes(node)
        wire.send_together([commit(offset) for offset in range(10, 30)], VERSION)
        assert [commit_error(wire.receive()) for _ in range(20)] == [0] * 20
        assert committed(wire) == 29
        assert batch_sizes(node) == [*before, 20]
        node.abandon()
    with running(tmp_path / "data", settings=settings) as node, Wire(node.address) as wire:
        assert committed(wire) == 29


def test_a_fetch_behind_a_commit_sees_it(tmp_path: Path, settings: dict[str, str]) -> None:
    with running(tmp_path / "data", settings=settings) as node, Wire(node.address) as wire:
        ready(wire)
        for offset in range(5):
            wire.send_together([commit(100 + offset), commit(200 + offset)], VERSION)
            assert committed_behind(wire) == 200 + offset


def committed_behind(wire: Wire) -> int:
    """Asked before the answers to the commits are read."""
    asked = [wire.receive() for _ in range(2)]
    assert [commit_error(answer) for answer in asked] == [0, 0]
    return committed(wire)


def test_large_commits_do_not_become_one_oversized_batch(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    with running(tmp_path / "data", settings=settings) as node, Wire(node.address) as wire:
        ready(wire)
        wire.send_together([large(number) for number in range(60)], VERSION)
        assert [commit_error(wire.receive()) for _ in range(60)] == [0] * 60
        assert sum(batch_sizes(node)[1:]) == 60
        assert len(batch_sizes(node)) > 3
        assert committed(wire) == 59


def test_a_commit_that_is_too_large_is_refused_alone(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    settings = settings | {"offsets.topic.segment.bytes": str(1 << 20)}
    with running(tmp_path / "data", settings=settings) as node, Wire(node.address) as wire:
        assert wire.call(create(TOPIC, partitions=300), 7).topics[0].error_code == 0
        wait_zero(lambda: commit_error(wire.call(commit(1), VERSION)))
        huge = large(3)
        (one,) = huge.topics[0].partitions
        huge.topics[0].partitions = [
            OffsetCommitRequestPartition(
                partition_index=index, committed_metadata=one.committed_metadata
            )
            for index in range(300)
        ]
        wire.send_together([commit(2), huge, commit(4)], VERSION)
        codes = [commit_error(wire.receive()) for _ in range(3)]
        assert codes == [0, ErrorCode.UNKNOWN_SERVER_ERROR, 0]
        assert committed(wire) == 4


def large(offset: int) -> OffsetCommitRequest:
    request = commit(offset)
    request.topics[0].partitions[0].committed_metadata = "x" * 4000
    return request


def test_commits_that_do_not_fit_on_disk_are_not_acknowledged(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    disk = FailingDisk()
    with running(tmp_path / "data", disk, settings) as node:
        with Wire(node.address) as wire:
            ready(wire)
            disk.fill()
            wire.send_together([commit(offset) for offset in range(10, 15)], VERSION)
            assert all(code in RETRIABLE for code in answers_until_closed(wire))
        with Wire(node.address) as wire:
            disk.free()
            wait_zero(lambda: fetch_error(wire))
            assert committed(wire) == 1
            wait_zero(lambda: commit_error(wire.call(commit(20), VERSION)))
            assert committed(wire) == 20
        node.abandon()
    with running(tmp_path / "data", settings=settings) as node, Wire(node.address) as wire:
        assert committed(wire) == 20


def answers_until_closed(wire: Wire) -> list[int]:
    codes = []
    try:
        while True:
            codes.append(commit_error(wire.receive()))
    except (ConnectionError, IndexError):
        return codes
