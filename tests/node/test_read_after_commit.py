"""Whoever has been told that a transaction has ended reads it so, however slow the disk is with its
markers."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.records.control import build_end_marker
from penstock.storage.disk import RealDisk
from tests.node.node_kit import running
from tests.node.test_dangling_transaction import ID, markers, open_transaction, wait_state
from tests.node.wire_kit import FETCH_VERSION, Wire, fetch, fetched, part, values

MARKER = build_end_marker(
    producer_id=0, producer_epoch=0, commit=True, coordinator_epoch=0, timestamp=0
)


class SlowToSync(RealDisk):
    """The machine's disk, which syncs nothing of one topic while it is held."""

    def __init__(self) -> None:
        self._paths: dict[int, str] = {}
        self._may_go = threading.Event()
        self._may_go.set()
        self.is_waited_for = threading.Event()
        self.fdatasync = self._fdatasync
        self.open = self._open

    def hold(self) -> None:
        self._may_go.clear()

    @contextmanager
    def held(self) -> Iterator[None]:
        self.hold()
        try:
            yield
        finally:
            self._may_go.set()

    def _fdatasync(self, fd: int) -> None:
        if "/t-0/" in self._paths.get(fd, "") and not self._may_go.is_set():
            self.is_waited_for.set()
            self._may_go.wait()
        os.fdatasync(fd)

    def _open(self, path: str, flags: int, mode: int = 0o644) -> int:
        fd = os.open(path, flags, mode)
        self._paths[fd] = path
        return fd


def stable_end(wire: Wire) -> int:
    asked = ListOffsetsPartition(partition_index=0, timestamp=-1)
    topic = ListOffsetsTopic(name="t", partitions=[asked])
    request = ListOffsetsRequest(replica_id=-1, isolation_level=1, topics=[topic])
    return int(wire.call(request, 7).topics[0].partitions[0].offset)


def read(wire: Wire) -> Any:
    request = fetch({"t": [part()]}, isolation_level=1)
    return fetched(wire.call(request, FETCH_VERSION))["t", 0]


@pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
def test_the_end_of_a_transaction_counts_before_its_marker_is_synced(
    tmp_path: Path, commit: bool
) -> None:
    disk = SlowToSync()
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        producer = open_transaction(wire)
        assert (stable_end(wire), values(read(wire))) == (0, [])
        with disk.held():
            ended = EndTxnRequest(transactional_id=ID, committed=commit, **producer)
            assert wire.call(ended, 3).error_code == 0
            found = read(wire)
            assert disk.is_waited_for.wait(60)
            assert (stable_end(wire), found.last_stable_offset) == (1, 1)
            assert (values(found), markers(found)) == ([b"inside"], [])
            assert [one.first_offset for one in found.aborted_transactions or []] == (
                [] if commit else [0]
            )
        wait_state(wire, "CompleteCommit" if commit else "CompleteAbort")
        assert markers(read(wire)) == [commit]


def test_an_end_that_the_power_takes_is_written_again(tmp_path: Path) -> None:
    disk = SlowToSync()
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        producer = open_transaction(wire)
        disk.hold()
        ended = EndTxnRequest(transactional_id=ID, committed=True, **producer)
        assert wire.call(ended, 3).error_code == 0
        found = read(wire)
        assert disk.is_waited_for.wait(60)
        kept = (tmp_path / "data" / "t-0" / f"{0:020}.log").stat().st_size - len(MARKER)
        node.abandon()
    assert values(found) == [b"inside"]
    os.truncate(tmp_path / "data" / "t-0" / f"{0:020}.log", kept)
    with running(tmp_path / "data") as node, Wire(node.address) as wire:
        wait_state(wire, "CompleteCommit")
        again = read(wire)
        assert (values(again), markers(again)) == ([b"inside"], [True])
