from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.model.id import TopicPartition
from penstock.storage.checkpoint.file import (
    read_lines,
    read_offsets,
    read_topic_id,
    write_lines,
    write_offsets,
    write_topic_id,
)
from penstock.storage.damage import DamagedFile
from penstock.storage.disk import RealDisk
from penstock.storage.epoch_cache import EpochCache
from penstock.storage.names import deleted_dir_name, parse_partition_dir, parse_segment_name
from penstock.storage.properties import decode_properties, encode_properties

DISK = RealDisk()


def test_offsets_are_kafkas_text(tmp_path: Path) -> None:
    path = tmp_path / "recovery-point-offset-checkpoint"
    offsets = {TopicPartition("a-b", 0): 7, TopicPartition("c", 12): 0}
    write_offsets(DISK, str(path), offsets)
    assert path.read_text() == "0\n2\na-b 0 7\nc 12 0\n"
    assert read_offsets(DISK, str(path)) == offsets
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("text", ["", "1\n0\n", "0\n2\na 0 1\n", "0\nx\n", "0\n1\na 1\n"])
def test_a_damaged_checkpoint_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "checkpoint"
    path.write_text(text)
    with pytest.raises(DamagedFile, match="checkpoint"):
        read_offsets(DISK, str(path))


def test_a_missing_checkpoint_is_empty(tmp_path: Path) -> None:
    assert read_lines(DISK, str(tmp_path / "none")) == []


def test_topic_ids(tmp_path: Path) -> None:
    path = tmp_path / "partition.metadata"
    assert read_topic_id(DISK, str(path)) is None
    write_topic_id(DISK, str(path), bytes(range(16)))
    assert path.read_text() == "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"
    assert read_topic_id(DISK, str(path)) == bytes(range(16))


def test_properties() -> None:
    text = "#\n#Mon Jan 01\ncluster.id=abc=\nversion=1\nnode.id = 4\n"
    assert decode_properties(text) == {"cluster.id": "abc=", "version": "1", "node.id": "4"}
    assert decode_properties(encode_properties({"a": "b"})) == {"a": "b"}


def test_names() -> None:
    assert parse_partition_dir("a-b-3") == TopicPartition("a-b", 3)
    assert parse_partition_dir("a-b-3.0f-delete") is None
    assert parse_partition_dir("plain") is None
    assert parse_segment_name("00000000000000000042.log.swap") == (42, ".log", ".swap")
    assert parse_segment_name("00000000000000000042.log") == (42, ".log", "")
    assert parse_segment_name("leader-epoch-checkpoint") is None

    long = deleted_dir_name(TopicPartition("t" * 249, 100), bytes(16))
    assert len(long) == 255
    assert long.endswith("-100.00000000000000000000000000000000-delete")


def test_epochs(tmp_path: Path) -> None:
    epochs = EpochCache()
    assert epochs.end_offset(0, 50) == (-1, -1)
    for epoch, start in ((0, 0), (2, 10), (5, 30)):
        epochs.assign(epoch, start)
    path = str(tmp_path / "leader-epoch-checkpoint")
    write_lines(DISK, path, epochs.encode())
    assert Path(path).read_text() == "0\n3\n0 0\n2 10\n5 30\n"
    assert EpochCache.decode(read_lines(DISK, path)).entries() == epochs.entries()
    assert epochs.end_offset(5, 50) == (5, 50)
    assert epochs.end_offset(3, 50) == (2, 30)
    assert epochs.end_offset(0, 50) == (0, 10)
    assert epochs.end_offset(6, 50) == (-1, -1)
    assert epochs.epoch_at(29) == 2
    epochs.truncate_before(12)
    assert epochs.entries() == [(2, 12), (5, 30)]
    epochs.truncate_from(30)
    assert epochs.entries() == [(2, 12)]
    epochs.assign(1, 5)
    assert epochs.entries() == [(1, 5)]
