"""DescribeQuorum: the voters of the metadata log. A cluster of one is its own leader."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID
from penstock.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    ReplicaState,
    RequestTopicData,
    ResponsePartitionData,
    ResponseTopicData,
)

METADATA_TOPIC = "__cluster_metadata"
DIRECTORY_ID_FROM = 2


def handle(broker: Broker, request: DescribeQuorumRequest, call: Call) -> Answer:
    return DescribeQuorumResponse(
        error_message=None,
        topics=[_topic(broker, topic, call.version) for topic in request.topics],
        nodes=[]
        if call.version < DIRECTORY_ID_FROM
        else [
            Node(
                node_id=broker.node_id,
                listeners=[
                    Listener(
                        name="CONTROLLER", host=broker.endpoint.host, port=broker.endpoint.port
                    )
                ],
            )
        ],
    )


def _topic(broker: Broker, asked: RequestTopicData, version: int) -> ResponseTopicData:
    return ResponseTopicData(
        topic_name=asked.topic_name,
        partitions=[
            _partition(broker, part.partition_index, version)
            if asked.topic_name == METADATA_TOPIC and part.partition_index == 0
            else ResponsePartitionData(
                partition_index=part.partition_index,
                error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                error_message=None,
            )
            for part in asked.partitions
        ],
    )


def _partition(broker: Broker, index: int, version: int) -> ResponsePartitionData:
    quorum = broker.controller.quorum()
    now_ms = broker.clock.now_ms()
    return ResponsePartitionData(
        partition_index=index,
        error_message=None,
        leader_id=broker.node_id,
        leader_epoch=quorum.epoch,
        high_watermark=quorum.committed_offset,
        current_voters=[
            ReplicaState(
                replica_id=broker.node_id,
                replica_directory_id=quorum.directory_id
                if version >= DIRECTORY_ID_FROM
                else ZERO_ID,
                log_end_offset=quorum.end_offset,
                last_fetch_timestamp=now_ms,
                last_caught_up_timestamp=now_ms,
            )
        ],
    )
