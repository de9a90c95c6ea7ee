"""The quorum-state file in both of Kafka's versions, and damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.model.error import StorageError
from penstock.quorum.quorum_state import QuorumState, read_quorum_state, write_quorum_state
from penstock.storage.disk import RealDisk

DISK = RealDisk()
DATA = Path(__file__).parent / "data" / "kafka-4.3" / "__cluster_metadata-0"


def test_a_vote_is_kept_with_the_directory_it_went_to(tmp_path: Path) -> None:
    state = QuorumState(2, 7, voted_id=2, voted_directory_id=b"d" * 16, data_version=1)
    write_quorum_state(DISK, str(tmp_path), state)
    assert read_quorum_state(DISK, str(tmp_path), replaceable=False) == state
    assert json.loads((tmp_path / "quorum-state").read_text()) == {
        "leaderId": 2,
        "leaderEpoch": 7,
        "votedId": 2,
        "votedDirectoryId": "ZGRkZGRkZGRkZGRkZGRkZA",
        "data_version": 1,
    }


def test_version_0_names_the_voters_and_no_directory(tmp_path: Path) -> None:
    state = QuorumState(-1, 3, voted_id=5, voters=(1, 5, 9))
    write_quorum_state(DISK, str(tmp_path), state)
    assert read_quorum_state(DISK, str(tmp_path), replaceable=False) == state
    assert json.loads((tmp_path / "quorum-state").read_text()) == {
        "clusterId": "",
        "leaderId": -1,
        "leaderEpoch": 3,
        "votedId": 5,
        "appliedOffset": 0,
        "currentVoters": [{"voterId": 1}, {"voterId": 5}, {"voterId": 9}],
        "data_version": 0,
    }


def test_a_file_of_apache_kafka_is_read() -> None:
    state = read_quorum_state(DISK, str(DATA), replaceable=False)
    assert state == QuorumState(1, 2, data_version=1)


def test_there_is_none_at_the_first_start(tmp_path: Path) -> None:
    assert read_quorum_state(DISK, str(tmp_path), replaceable=False) is None


@pytest.mark.parametrize("text", ["", "{", '{"leaderId":1}', '{"leaderId":1,"leaderEpoch":-4}'])
def test_a_damaged_file_is_put_aside_only_where_no_vote_can_be_given_twice(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "quorum-state"
    path.write_text(text)
    with pytest.raises(StorageError, match="whom this node voted for"):
        read_quorum_state(DISK, str(tmp_path), replaceable=False)
    assert path.read_text() == text
    assert read_quorum_state(DISK, str(tmp_path), replaceable=True) is None
    assert not path.exists()


def test_a_version_nobody_knows_yet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "quorum-state").write_text('{"leaderId":1,"leaderEpoch":1,"data_version":2}')
    with pytest.raises(StorageError, match="version 2"):
        read_quorum_state(DISK, str(tmp_path), replaceable=True)
