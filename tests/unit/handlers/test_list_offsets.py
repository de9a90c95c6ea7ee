"""ListOffsets of a leader that does not know yet how far the one before had committed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.handlers.api import list_offsets
from penstock.handlers.broker import Broker
from penstock.handlers.call import Call, ClientState
from penstock.model.error import ErrorCode
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.replication.partition import Partition
from tests.unit.replication.replica_kit import image, new_partition
from tests.unit.storage.storage_kit import batch

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
CONSUMER, FOLLOWER = -1, 2
TIMESTAMP = 1000


@pytest.fixture
def partition(tmp_path: Path) -> Partition:
    """Three records of the epoch before, of which no follower has said yet that it has them."""
    partition = new_partition(tmp_path, flush_messages=2**63 - 1)
    partition.lead(image(leader=1, epoch=6), 1)
    partition.append(memoryview(batch(3, timestamp=TIMESTAMP)), TIMESTAMP)
    partition.lead(image(leader=1, epoch=7), 1)
    return partition


def ask(
    partition: Partition, timestamp: int, version: int = 11, replica_id: int = CONSUMER
) -> tuple[int, int]:
    broker = SimpleNamespace(partitions=SimpleNamespace(by_name=lambda topic, index: partition))
    asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    request = ListOffsetsRequest(
        replica_id=replica_id, topics=[ListOffsetsTopic(name="orders", partitions=[asked])]
    )
    call = Call(ClientState("127.0.0.1:1"), version)
    response: Any = list_offsets.handle(cast(Broker, broker), request, call)
    answer = response.topics[0].partitions[0]
    return answer.error_code, answer.offset


@pytest.mark.parametrize("timestamp", [LATEST, MAX_TIMESTAMP, 0, TIMESTAMP + 2, TIMESTAMP + 3])
def test_what_may_be_behind_the_watermark_is_asked_for_again(
    partition: Partition, timestamp: int
) -> None:
    """ "There is none" would send a consumer past records that it may have been shown already."""
    assert ask(partition, timestamp) == (ErrorCode.OFFSET_NOT_AVAILABLE, -1)
    assert ask(partition, timestamp, version=4) in (
        (ErrorCode.LEADER_NOT_AVAILABLE, -1),
        (ErrorCode.UNSUPPORTED_VERSION, -1),  # the point is younger than that version
    )


def test_what_is_known_is_told(partition: Partition) -> None:
    assert ask(partition, EARLIEST) == (0, 0)
    assert ask(partition, TIMESTAMP + 1, replica_id=FOLLOWER) == (0, 1)
    for follower in (2, 3):
        partition.on_replica_fetch(follower, 100 * follower, 3, 0)
    assert ask(partition, LATEST) == (0, 3)
    assert ask(partition, MAX_TIMESTAMP) == (0, 2)
    assert ask(partition, TIMESTAMP + 1) == (0, 1)
    assert ask(partition, TIMESTAMP + 3) == (0, -1)
