"""Batches behind one that was refused are refused with it, until it comes again."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.records.header import SEQUENCE_MAX, parse_header
from penstock.replication.partition import Partition
from penstock.replication.refusal import PRODUCERS_MAX, Refusals
from penstock.storage.append_check import Origin
from penstock.storage.producer.state import ProducerState
from tests.unit.replication.replica_kit import image, new_partition
from tests.unit.storage.storage_kit import batch

NOT_LEADER = ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
TOO_FEW = ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, "one is missing")


class Log:
    """Takes what the partition would take: after the refusals, the producer state decides."""

    def __init__(self) -> None:
        self.refusals = Refusals()
        self.producers = ProducerState()
        self.end_offset = 0

    def refuse(self, sequence: int, error: ApiError = NOT_LEADER, **fields: int) -> None:
        self.refusals.note(part(sequence, **fields), error)

    def append(self, sequence: int, **fields: int) -> ErrorCode | None:
        records = part(sequence, **fields)
        header = parse_header(records)
        try:
            self.refusals.check(records, self.producers)
            if self.producers.check(header, sequences=True) is None:
                self.producers.apply(header, self.end_offset, 0)
                self.end_offset += 1
        except ApiError as error:
            return error.code
        return None


def part(sequence: int, *, pid: int = 7, epoch: int = 0) -> bytearray:
    return batch(1, producer_id=pid, producer_epoch=epoch, base_sequence=sequence)


def test_the_rest_of_a_row_waits_for_its_first() -> None:
    log = Log()
    assert log.append(0) is None
    log.refuse(1)
    # It leads by now.
    assert log.append(2) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert log.append(3) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    for sequence in (1, 2, 3, 4):
        assert log.append(sequence) is None
    assert log.append(6) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_new_producer_does_not_begin_in_the_middle() -> None:
    log = Log()
    log.refuse(0, TOO_FEW)
    with pytest.raises(ApiError, match="one is missing") as raised:
        log.refusals.check(part(1), log.producers)
    assert raised.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    assert log.append(0) is None
    assert log.append(1) is None


def test_a_producer_that_leaves_one_out_hears_of_it() -> None:
    log = Log()
    assert log.append(0) is None
    log.refuse(1)
    refused = [log.append(sequence) for sequence in (2, 3, 4, 5)]
    assert set(refused) == {ErrorCode.NOT_LEADER_OR_FOLLOWER}
    assert log.append(6) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_what_was_written_by_way_of_another_leader_is_not_waited_for() -> None:
    log = Log()
    log.refuse(1)
    for sequence in range(5):
        log.producers.apply(parse_header(part(sequence)), sequence, 0)
    assert log.append(5) is None


def test_other_producers_and_epochs_are_not_concerned() -> None:
    log = Log()
    log.refuse(1)
    assert log.append(0, pid=8) is None
    assert log.append(1, pid=8) is None
    assert log.append(0, epoch=1) is None
    assert log.append(1, epoch=1) is None


def test_the_earliest_of_those_refused_counts() -> None:
    log = Log()
    assert log.append(0) is None
    log.refuse(2)
    log.refuse(1)
    log.refuse(3)
    assert log.append(2) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert log.append(1) is None
    assert log.append(2) is None


def test_sequences_wrap() -> None:
    log = Log()
    assert log.append(SEQUENCE_MAX - 1) is None
    log.refuse(SEQUENCE_MAX)
    assert log.append(0) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert log.append(SEQUENCE_MAX) is None
    assert log.append(0) is None


def test_only_so_many_are_remembered() -> None:
    log = Log()
    for pid in range(PRODUCERS_MAX + 1):
        log.refuse(0, pid=pid)
    assert log.append(1, pid=0) is None
    assert log.append(1, pid=1) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_what_is_no_batch_is_not_looked_at() -> None:
    refusals = Refusals()
    refusals.note(b"no batch", NOT_LEADER)
    refusals.check(b"no batch", ProducerState())


@pytest.fixture
def partition(tmp_path: Path) -> Partition:
    return new_partition(tmp_path)


def sent(partition: Partition, sequence: int, origin: Origin = Origin.CLIENT) -> ErrorCode | None:
    try:
        partition.append(memoryview(part(sequence)), 0, origin)
    except ApiError as error:
        return error.code
    return None


def test_a_node_that_learns_in_their_midst_that_it_leads_takes_all_in_order(
    partition: Partition,
) -> None:
    assert sent(partition, 0) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    partition.lead(image(leader=1, epoch=6), 2)
    assert sent(partition, 1) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert [sent(partition, sequence) for sequence in range(3)] == [None] * 3
    assert partition.log.end_offset == 3


def test_an_in_sync_set_that_grows_in_their_midst_takes_all_in_order(partition: Partition) -> None:
    partition.lead(image(leader=1, epoch=6, isr=(1,)), 2)
    assert sent(partition, 0) is ErrorCode.NOT_ENOUGH_REPLICAS
    partition.lead(image(leader=1, epoch=6, isr=(1, 3)), 2)
    assert sent(partition, 1) is ErrorCode.NOT_ENOUGH_REPLICAS
    assert [sent(partition, sequence) for sequence in range(3)] == [None] * 3


def test_a_coordinator_that_is_refused_holds_back_nobody(partition: Partition) -> None:
    assert sent(partition, 0, Origin.COORDINATOR) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    partition.lead(image(leader=1, epoch=6), 2)
    assert sent(partition, 1) is None
