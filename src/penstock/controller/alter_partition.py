"""AlterPartition: a leader says which replicas are in sync with it.

Each partition stands or falls by itself. A leader that knows more than this controller has reached
one that was replaced; one that knows less is told to wait for the log.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.controller.broker_change import check_epoch
from penstock.controller.config import ControllerContext
from penstock.controller.leader_rules import LeaderRules
from penstock.controller.outcome import Outcome, conclude
from penstock.controller.partition_change import (
    LEADER_UNCHANGED,
    RECOVERED,
    RECOVERING,
    PartitionChange,
)
from penstock.controller.partition_index import PartitionKey
from penstock.metadata.partition import PartitionImage
from penstock.metadata.record import MetadataRecord
from penstock.metadata.topic import TopicImage
from penstock.model.error import ErrorCode
from penstock.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    RequestPartitionData,
    RequestTopicData,
    ResponsePartitionData,
    ResponseTopicData,
)

_EPOCHS_FROM = 3
_UNCHECKED_EPOCH = -1


def decide_alter_partition(
    context: ControllerContext, request: AlterPartitionRequest, version: int
) -> Outcome[AlterPartitionResponse]:
    check_epoch(context, request.broker_id, request.broker_epoch)
    step = _Alteration(context, request.broker_id, version)
    topics = [
        ResponseTopicData(
            topic_id=topic.topic_id,
            partitions=[step.alter(topic, wanted) for wanted in topic.partitions],
        )
        for topic in request.topics
    ]
    return conclude(context.config, step.records, AlterPartitionResponse(topics=topics))


class _Alteration:
    """One request under way: what it has brought about so far."""

    def __init__(self, context: ControllerContext, sender_id: int, version: int) -> None:
        self.records: list[MetadataRecord] = []
        self._context = context
        self._rules = LeaderRules(context)
        self._sender_id = sender_id
        self._has_epochs = version >= _EPOCHS_FROM
        self._altered: set[PartitionKey] = set()

    def alter(self, asked: RequestTopicData, wanted: RequestPartitionData) -> ResponsePartitionData:
        index = wanted.partition_index
        topic = self._context.image.topics.get_by_id(asked.topic_id)
        if topic is None:
            return _refused(index, ErrorCode.UNKNOWN_TOPIC_ID)
        partition = topic.partitions.get(index)
        if partition is None:
            return _refused(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        isr = self._new_isr(wanted)
        error = self._fault(partition, wanted, isr)
        if error == ErrorCode.NONE and (topic.id, index) in self._altered:
            error = ErrorCode.INVALID_UPDATE_VERSION
        if error != ErrorCode.NONE:
            return _refused(index, error)
        return self._apply(topic, partition, wanted, [one for one, _ in isr])

    def _new_isr(self, wanted: RequestPartitionData) -> list[tuple[int, int]]:
        if self._has_epochs:
            return [(one.broker_id, one.broker_epoch) for one in wanted.new_isr_with_epochs]
        return [(one, _UNCHECKED_EPOCH) for one in wanted.new_isr]

    def _fault(
        self,
        partition: PartitionImage,
        wanted: RequestPartitionData,
        isr: Sequence[tuple[int, int]],
    ) -> ErrorCode:
        error = _epoch_fault(partition, wanted, self._sender_id)
        if error == ErrorCode.NONE:
            error = _set_fault(partition, wanted, [one for one, _ in isr])
        if error == ErrorCode.NONE and not all(self._is_eligible(partition, *one) for one in isr):
            error = ErrorCode.INELIGIBLE_REPLICA
        return error

    def _is_eligible(self, partition: PartitionImage, broker_id: int, epoch: int) -> bool:
        """At work, in the life in which the leader saw it catch up (KIP-841, KIP-903), and on a
        directory that has not failed: nobody could lead a set of such."""
        broker = self._context.image.brokers.get(broker_id)
        if broker is None or not self._rules.may_lead(broker_id, partition):
            return False
        return epoch in (_UNCHECKED_EPOCH, broker.epoch)

    def _apply(
        self,
        topic: TopicImage,
        partition: PartitionImage,
        wanted: RequestPartitionData,
        isr: Sequence[int],
    ) -> ResponsePartitionData:
        index = wanted.partition_index
        change = PartitionChange(self._rules, topic, index, partition)
        change.isr = isr
        change.recovery = wanted.leader_recovery_state
        record = change.record()
        if record is not None:
            self.records.append(record)
            self._altered.add((topic.id, index))
            partition = partition.changed(record)
            if record.leader not in (self._sender_id, LEADER_UNCHANGED):
                # A reassignment ended, and took the leader along.
                return _refused(index, ErrorCode.NEW_LEADER_ELECTED)
        return ResponsePartitionData(
            partition_index=index,
            leader_id=partition.leader,
            leader_epoch=partition.leader_epoch,
            isr=partition.isr,
            leader_recovery_state=partition.leader_recovery_state,
            partition_epoch=partition.partition_epoch,
        )


def _refused(index: int, error: ErrorCode) -> ResponsePartitionData:
    return ResponsePartitionData(partition_index=index, error_code=error)


def _epoch_fault(
    partition: PartitionImage, wanted: RequestPartitionData, sender_id: int
) -> ErrorCode:
    if wanted.leader_epoch > partition.leader_epoch:
        return ErrorCode.NOT_CONTROLLER
    if wanted.partition_epoch > partition.partition_epoch:
        return ErrorCode.NOT_CONTROLLER
    if wanted.leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if sender_id != partition.leader:
        return ErrorCode.INVALID_REQUEST
    if wanted.partition_epoch < partition.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    return ErrorCode.NONE


def _set_fault(
    partition: PartitionImage, wanted: RequestPartitionData, isr: Sequence[int]
) -> ErrorCode:
    is_sound = len(set(isr)) == len(isr) and set(isr).issubset(partition.replicas)
    recovery = wanted.leader_recovery_state
    if not is_sound or partition.leader not in isr or recovery not in (RECOVERED, RECOVERING):
        return ErrorCode.INVALID_REQUEST
    if recovery == RECOVERING and len(isr) > 1:
        # Others must not count on what an unclean leader has not yet settled (KIP-704).
        return ErrorCode.INVALID_REQUEST
    if recovery == RECOVERING and partition.leader_recovery_state == RECOVERED:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE
