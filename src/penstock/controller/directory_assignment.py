"""AssignReplicasToDirs: a broker says in which of its directories its replicas are (KIP-858)."""

from __future__ import annotations

from penstock.controller.broker_change import check_epoch
from penstock.controller.config import ControllerContext
from penstock.controller.leader_rules import LeaderRules
from penstock.controller.outcome import Outcome, conclude
from penstock.controller.partition_change import PartitionChange
from penstock.controller.partition_index import PartitionKey
from penstock.metadata.broker import BrokerImage
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ErrorCode
from penstock.model.id import TopicId
from penstock.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    RequestDirectoryData,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)


def decide_assign_replicas(
    context: ControllerContext, request: AssignReplicasToDirsRequest
) -> Outcome[AssignReplicasToDirsResponse]:
    broker = check_epoch(context, request.broker_id, request.broker_epoch)
    step = _Assignment(context, broker)
    directories = [step.assign(directory) for directory in request.directories]
    response = AssignReplicasToDirsResponse(directories=directories)
    return conclude(context.config, step.records, response)


class _Assignment:
    """One request under way: what it has brought about so far."""

    def __init__(self, context: ControllerContext, broker: BrokerImage) -> None:
        self.records: list[MetadataRecord] = []
        self._topics = context.image.topics
        self._broker = broker
        self._rules = LeaderRules(context)
        self._without = LeaderRules(context, gone=broker.id)
        self._assigned: set[PartitionKey] = set()

    def assign(self, asked: RequestDirectoryData) -> ResponseDirectoryData:
        topics = [
            ResponseTopicData(
                topic_id=topic.topic_id,
                partitions=[
                    ResponsePartitionData(
                        partition_index=one.partition_index,
                        error_code=self._assign(asked.id, topic.topic_id, one.partition_index),
                    )
                    for one in topic.partitions
                ],
            )
            for topic in asked.topics
        ]
        return ResponseDirectoryData(id=asked.id, topics=topics)

    def _assign(self, directory: bytes, topic_id: TopicId, index: int) -> ErrorCode:
        topic = self._topics.get_by_id(topic_id)
        if topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        partition = topic.partitions.get(index)
        if partition is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        broker_id = self._broker.id
        if broker_id not in partition.replicas:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if (topic_id, index) in self._assigned:
            return ErrorCode.INVALID_REQUEST
        self._assigned.add((topic_id, index))
        is_online = directory in self._broker.log_dirs
        rules = self._rules if is_online else self._without
        change = PartitionChange(rules, topic, index, partition)
        change.directories = {broker_id: directory}
        if not is_online:
            change.isr = [one for one in partition.isr if one != broker_id]
        record = change.record()
        self.records += [] if record is None else [record]
        return ErrorCode.NONE
