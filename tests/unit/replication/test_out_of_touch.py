"""A leader that may have been replaced says of no offset that it does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.replication.partition import Partition
from tests.unit.replication.replica_kit import image, new_partition
from tests.unit.storage.storage_kit import batch


def refused(partition: Partition, offset: int) -> ErrorCode:
    with pytest.raises(ApiError) as raised:
        partition.read(offset, 1000, partition.log.end_offset, True)
    return raised.value.code


def test_an_offset_ahead_of_the_log_is_left_to_whoever_leads_by_now(tmp_path: Path) -> None:
    touch = [True]
    partition = new_partition(tmp_path, lambda: touch[0])
    partition.lead(image(leader=1, epoch=6), 2)
    partition.append(memoryview(batch(3)), 0)
    assert refused(partition, 4) is ErrorCode.OFFSET_OUT_OF_RANGE
    touch[0] = False
    assert refused(partition, 4) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    # What lies before the log is gone wherever it is asked for, and what is there is read.
    partition.log.log_start_offset = 2
    assert refused(partition, 1) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert partition.read(2, 1000, 3, True).size_bytes > 0
    assert partition.read(3, 1000, 3, True).size_bytes == 0
