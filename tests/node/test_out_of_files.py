"""No file descriptor left: who wants to write is told, nothing breaks, and it passes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from penstock.node.descriptor import plan
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from tests.node.node_kit import FailingDisk, running
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    batch,
    fetch,
    fetched,
    part,
    produce,
    produced,
    values,
)
from tests.patience import wait_until

KAFKA_STORAGE_ERROR = 56


class CrowdedDisk(FailingDisk):
    """On which nothing can be opened while there is a crowd."""

    errno = 0

    def _open(self, path: str, flags: int, mode: int = 0o644) -> int:
        if self.errno:
            raise OSError(self.errno, os.strerror(self.errno), path)
        return super()._open(path, flags, mode)

    @staticmethod
    def fsync_dir(path: str) -> None:
        if CrowdedDisk.errno:
            raise OSError(CrowdedDisk.errno, os.strerror(CrowdedDisk.errno), path)
        FailingDisk.fsync_dir(path)

    @staticmethod
    def listdir(path: str) -> list[str]:
        if CrowdedDisk.errno:
            raise OSError(CrowdedDisk.errno, os.strerror(CrowdedDisk.errno), path)
        return os.listdir(path)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE])
def test_a_node_lives_through_it(
    tmp_path: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = CrowdedDisk()
    settings = {"log.segment.bytes": "1048576", "num.partitions": "1"}
    with running(tmp_path, disk, settings) as node, Wire(node.address, 30) as wire:
        one = batch(b"x" * 400_000)
        new = CreatableTopic(name="t", num_partitions=1, replication_factor=1)
        wire.call(CreateTopicsRequest(topics=[new], timeout_ms=1000), 7)
        assert produced(wire.call(produce("t", one), PRODUCE_VERSION)).error_code == 0
        monkeypatch.setattr(CrowdedDisk, "errno", code)
        codes = [
            produced(wire.call(produce("t", one), PRODUCE_VERSION)).error_code for _ in range(4)
        ]
        assert codes[-1] == KAFKA_STORAGE_ERROR, "a new segment is due, and cannot be made"
        node.ask(node.node.log_dirs.checkpoint)
        node.ask(node.node.log_dirs.metadata.cache.close_all)
        answer = fetched(wire.call(fetch({"t": [part()]}), FETCH_VERSION))["t", 0]
        assert answer.error_code == KAFKA_STORAGE_ERROR
        assert node.node.log_dirs.metadata.offline is None

        monkeypatch.setattr(CrowdedDisk, "errno", 0)
        written = produced(wire.call(produce("t", one), PRODUCE_VERSION))
        assert written.error_code == 0
        assert written.base_offset == 1 + codes.count(0)
        answer = fetched(wire.call(fetch({"t": [part()]}), FETCH_VERSION))["t", 0]
        assert values(answer)[0] == b"x" * 400_000
        node.ask(node.node.log_dirs.checkpoint)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE])
def test_to_look_at_what_nobody_has_opened_fails_no_directory(
    tmp_path: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path) as node, Wire(node.address, 30) as wire:
        new = CreatableTopic(name="t", num_partitions=1, replication_factor=1)
        wire.call(CreateTopicsRequest(topics=[new], timeout_ms=1000), 7)
        assert produced(wire.call(produce("t", batch(b"kept")), PRODUCE_VERSION)).error_code == 0
    with running(tmp_path, CrowdedDisk()) as node, Wire(node.address, 30) as wire:
        monkeypatch.setattr(CrowdedDisk, "errno", code)
        (told,) = wire.call(DescribeLogDirsRequest(topics=None), 4).results
        assert told.error_code == KAFKA_STORAGE_ERROR
        assert node.node.log_dirs.metadata.offline is None

        monkeypatch.setattr(CrowdedDisk, "errno", 0)
        (told,) = wire.call(DescribeLogDirsRequest(topics=None), 4).results
        assert told.error_code == 0
        assert told.topics[0].partitions[0].partition_size > 0
        answer = fetched(wire.call(fetch({"t": [part()]}), FETCH_VERSION))["t", 0]
        assert values(answer) == [b"kept"]


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE])
def test_a_topic_that_cannot_be_deleted_is_deleted_later(
    tmp_path: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The space that is kept back for deletions is in a file, too."""
    with running(tmp_path, CrowdedDisk()) as node, Wire(node.address, 30) as wire:
        new = CreatableTopic(name="t", num_partitions=1, replication_factor=1)
        wire.call(CreateTopicsRequest(topics=[new], timeout_ms=1000), 7)
        wait_until(lambda: node.node._metadata.reserve.is_whole)
        node.ask(node.node.log_dirs.metadata.cache.close_all)
        monkeypatch.setattr(CrowdedDisk, "errno", code)
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=1000)
        assert wire.call(request, 6).responses[0].error_code == KAFKA_STORAGE_ERROR
        assert node.node.log_dirs.metadata.offline is None

        monkeypatch.setattr(CrowdedDisk, "errno", 0)
        assert wire.call(request, 6).responses[0].error_code == 0
        assert node.node._metadata.reserve.is_whole


@pytest.mark.parametrize(
    ("setting", "descriptors", "files", "below"),
    [(512, 1 << 20, 512, (1 << 20) - 576), (512, 1024, 256, 704), (512, 128, 32, 64)],
)
def test_descriptors_are_set_aside_for_files(
    setting: int, descriptors: int, files: int, below: int
) -> None:
    assert plan(setting, descriptors) == (files, below)
