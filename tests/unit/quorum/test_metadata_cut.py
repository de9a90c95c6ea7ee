"""A metadata log that was cut, and a power cut before the next checkpoint: it opens again."""

from __future__ import annotations

from functools import partial

import pytest

from penstock.quorum.log_config import MetadataLogConfig
from penstock.quorum.metadata_log import MetadataLog
from penstock.raft import SnapshotId
from penstock.storage.log_dir import LogDir
from penstock.testing.clock import SimulatedClock
from penstock.testing.disk import FaultyDisk
from tests.unit.quorum.log_kit import PARTITION, fill

TOPIC_ID = bytes(15) + b"\x01"


def opened(disk: FaultyDisk) -> tuple[LogDir, MetadataLog]:
    directory = LogDir("/data", SimulatedClock(), lambda _: MetadataLogConfig(), disk=disk)
    directory.open()
    log = directory.create_log(PARTITION, TOPIC_ID, keep_whole=True)
    lower = partial(directory.lower_recovery_point, PARTITION)
    return directory, MetadataLog(log, lower_recovery_point=lower)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("cut", [2, 3])
def test_a_cut_log_opens_after_a_power_cut(seed: int, cut: int) -> None:
    disk = FaultyDisk(seed)
    disk.mkdir("/data")
    directory, log = opened(disk)
    fill(log, (1, 1), (1, 1), (1, 2), (2, 1))
    log.log.flush()
    directory.checkpoint()
    disk.sync_all()
    log.truncate(cut)
    assert log.end_offset == 2
    disk.crash()
    _, again = opened(disk)
    # The cut itself may be lost: the leader says again where the log is to end.
    assert again.end_offset in (2, 4, 5)


def test_a_log_that_a_snapshot_replaced_opens_after_a_crash() -> None:
    disk = FaultyDisk(1)
    disk.mkdir("/data")
    directory, log = opened(disk)
    fill(log, (1, 5))
    log.log.flush()
    directory.checkpoint()
    log.restart_behind(SnapshotId(3, 2))
    disk.sync_all()
    _, again = opened(disk)
    assert (again.start_offset, again.end_offset) == (3, 3)
