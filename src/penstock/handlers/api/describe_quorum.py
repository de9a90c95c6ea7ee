"""DescribeQuorum: the voters of the metadata log and who else reads it. Only the leader knows."""

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
from penstock.raft import QuorumView, ReplicaView, Voter

METADATA_TOPIC = "__cluster_metadata"
DIRECTORY_ID_FROM = 2

_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_NOT_HOSTED = "This server does not host this topic-partition."


def handle(broker: Broker, request: DescribeQuorumRequest, call: Call) -> Answer:
    view = broker.controller.quorum()
    if not isinstance(view, QuorumView) and call.client.listener not in broker.controller_listeners:
        return broker.controller.forward(request, call)
    is_ours = _is_metadata(request)
    voters = view.voter_set.voters if is_ours and isinstance(view, QuorumView) else ()
    return DescribeQuorumResponse(
        topics=[
            _topic(view if is_ours else _UNKNOWN, topic, call.version) for topic in request.topics
        ],
        nodes=[_node(broker, voter) for voter in voters]
        if call.version >= DIRECTORY_ID_FROM
        else [],
    )


def _is_metadata(request: DescribeQuorumRequest) -> bool:
    """Whether it asks for the one partition there is, and for nothing else."""
    asked = [
        (topic.topic_name, one.partition_index)
        for topic in request.topics
        for one in topic.partitions
    ]
    return len(request.topics) == 1 and asked == [(METADATA_TOPIC, 0)]


def _node(broker: Broker, voter: Voter) -> Node:
    """A voter that is alone has no listener for others: it answers where everybody asks."""
    listeners = [
        Listener(name=one.listener, host=one.host, port=one.port) for one in voter.endpoints
    ]
    if not listeners and voter.key.id == broker.node_id:
        own = broker.image.brokers.get(broker.node_id)
        listeners = [
            Listener(name="CONTROLLER", host=endpoint.host, port=endpoint.port)
            for endpoint in (own.endpoints[:1] if own is not None else ())
        ]
    return Node(node_id=voter.key.id, listeners=listeners)


def _topic(
    view: QuorumView | ErrorCode, asked: RequestTopicData, version: int
) -> ResponseTopicData:
    return ResponseTopicData(
        topic_name=asked.topic_name,
        partitions=[_partition(view, part.partition_index, version) for part in asked.partitions],
    )


def _partition(view: QuorumView | ErrorCode, index: int, version: int) -> ResponsePartitionData:
    if not isinstance(view, QuorumView):
        message = _NOT_HOSTED if view is _UNKNOWN else None
        return ResponsePartitionData(partition_index=index, error_code=view, error_message=message)
    return ResponsePartitionData(
        partition_index=index,
        leader_id=view.leader_id,
        leader_epoch=view.epoch,
        high_watermark=view.high_watermark,
        current_voters=[_replica(one, version) for one in view.voters],
        observers=[_replica(one, version) for one in view.observers],
    )


def _replica(view: ReplicaView, version: int) -> ReplicaState:
    return ReplicaState(
        replica_id=view.key.id,
        replica_directory_id=view.key.directory_id if version >= DIRECTORY_ID_FROM else ZERO_ID,
        log_end_offset=view.end_offset,
        last_fetch_timestamp=view.last_fetch_ms,
        last_caught_up_timestamp=view.last_caught_up_ms,
    )
