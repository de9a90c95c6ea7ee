"""Vote, BeginQuorumEpoch and EndQuorumEpoch between Kafka's messages and raft's values."""

from __future__ import annotations

from penstock.model.id import ZERO_ID
from penstock.protocol.messages import begin_quorum_epoch as begin
from penstock.protocol.messages import end_quorum_epoch as end
from penstock.protocol.messages import vote
from penstock.quorum.wire_part import (
    TOPIC,
    check_partition,
    error_of,
    id_of,
    leader_of,
    node_of,
    number,
    one_of,
    raise_for,
)
from penstock.raft import RaftEndpoint, ReplicaKey
from penstock.raft.message import (
    BeginQuorumEpoch,
    EndQuorumEpoch,
    QuorumEpochAnswer,
    Vote,
    VoteAnswer,
)

PRE_VOTE_VERSION = 2

# --- Vote ---


def encode_vote(value: Vote, cluster_id: str) -> vote.VoteRequest:
    voter = value.voter or ReplicaKey(-1)
    partition = vote.RequestPartitionData(
        replica_epoch=value.epoch,
        replica_id=value.candidate.id,
        replica_directory_id=value.candidate.directory_id,
        voter_directory_id=voter.directory_id,
        last_offset_epoch=value.last_epoch,
        last_offset=value.last_offset,
        pre_vote=value.pre_vote,
    )
    topic = vote.RequestTopicData(topic_name=TOPIC, partitions=[partition])
    return vote.VoteRequest(cluster_id=cluster_id, voter_id=voter.id, topics=[topic])


def decode_vote(request: vote.VoteRequest) -> Vote:
    topic = one_of(request.topics)
    part = one_of(topic.partitions)
    check_partition(topic.topic_name, part.partition_index)
    return Vote(
        part.replica_epoch,
        ReplicaKey(part.replica_id, part.replica_directory_id),
        part.last_offset_epoch,
        part.last_offset,
        part.pre_vote,
        _voter(request.voter_id, part.voter_directory_id),
    )


def encode_vote_answer(answer: VoteAnswer, listener: str) -> vote.VoteResponse:
    partition = vote.ResponsePartitionData(
        error_code=answer.error,
        leader_id=number(answer.leader.leader_id),
        leader_epoch=answer.leader.epoch,
        vote_granted=answer.granted,
    )
    return vote.VoteResponse(
        topics=[vote.ResponseTopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=node_of(vote.NodeEndpoint, answer.leader, listener),
    )


def decode_vote_answer(response: vote.VoteResponse, listener: str) -> VoteAnswer:
    raise_for(response.error_code)
    part = one_of(one_of(response.topics).partitions)
    leader = leader_of(part.leader_id, part.leader_epoch, response.node_endpoints, listener)
    return VoteAnswer(error_of(part.error_code), leader, part.vote_granted)


# --- BeginQuorumEpoch ---


def encode_begin(value: BeginQuorumEpoch, cluster_id: str) -> begin.BeginQuorumEpochRequest:
    voter = value.voter or ReplicaKey(-1)
    partition = begin.RequestPartitionData(
        voter_directory_id=voter.directory_id,
        leader_id=value.leader_id,
        leader_epoch=value.epoch,
    )
    return begin.BeginQuorumEpochRequest(
        cluster_id=cluster_id,
        voter_id=voter.id,
        topics=[begin.RequestTopicData(topic_name=TOPIC, partitions=[partition])],
        leader_endpoints=[
            begin.LeaderEndpoint(name=one.listener, host=one.host, port=one.port)
            for one in value.endpoints
        ],
    )


def decode_begin(request: begin.BeginQuorumEpochRequest) -> BeginQuorumEpoch:
    topic = one_of(request.topics)
    part = one_of(topic.partitions)
    check_partition(topic.topic_name, part.partition_index)
    return BeginQuorumEpoch(
        part.leader_epoch,
        part.leader_id,
        tuple(RaftEndpoint(one.name, one.host, one.port) for one in request.leader_endpoints),
        _voter(request.voter_id, part.voter_directory_id),
    )


def encode_begin_answer(answer: QuorumEpochAnswer, listener: str) -> begin.BeginQuorumEpochResponse:
    partition = begin.ResponsePartitionData(
        error_code=answer.error,
        leader_id=number(answer.leader.leader_id),
        leader_epoch=answer.leader.epoch,
    )
    return begin.BeginQuorumEpochResponse(
        topics=[begin.ResponseTopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=node_of(begin.NodeEndpoint, answer.leader, listener),
    )


def decode_begin_answer(
    response: begin.BeginQuorumEpochResponse, listener: str
) -> QuorumEpochAnswer:
    raise_for(response.error_code)
    part = one_of(one_of(response.topics).partitions)
    leader = leader_of(part.leader_id, part.leader_epoch, response.node_endpoints, listener)
    return QuorumEpochAnswer(error_of(part.error_code), leader)


# --- EndQuorumEpoch ---


def encode_end(value: EndQuorumEpoch, cluster_id: str) -> end.EndQuorumEpochRequest:
    partition = end.RequestPartitionData(
        leader_id=value.leader_id,
        leader_epoch=value.epoch,
        preferred_successors=[one.id for one in value.candidates],
        preferred_candidates=[
            end.ReplicaInfo(candidate_id=one.id, candidate_directory_id=one.directory_id)
            for one in value.candidates
        ],
    )
    return end.EndQuorumEpochRequest(
        cluster_id=cluster_id,
        topics=[end.RequestTopicData(topic_name=TOPIC, partitions=[partition])],
        leader_endpoints=[
            end.LeaderEndpoint(name=one.listener, host=one.host, port=one.port)
            for one in value.endpoints
        ],
    )


def decode_end(request: end.EndQuorumEpochRequest) -> EndQuorumEpoch:
    topic = one_of(request.topics)
    part = one_of(topic.partitions)
    check_partition(topic.topic_name, part.partition_index)
    candidates = [
        ReplicaKey(one.candidate_id, one.candidate_directory_id)
        for one in part.preferred_candidates
    ] or [ReplicaKey(one) for one in part.preferred_successors]
    return EndQuorumEpoch(
        part.leader_epoch,
        part.leader_id,
        tuple(RaftEndpoint(one.name, one.host, one.port) for one in request.leader_endpoints),
        tuple(candidates),
    )


def encode_end_answer(answer: QuorumEpochAnswer, listener: str) -> end.EndQuorumEpochResponse:
    partition = end.ResponsePartitionData(
        error_code=answer.error,
        leader_id=number(answer.leader.leader_id),
        leader_epoch=answer.leader.epoch,
    )
    return end.EndQuorumEpochResponse(
        topics=[end.ResponseTopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=node_of(end.NodeEndpoint, answer.leader, listener),
    )


def decode_end_answer(response: end.EndQuorumEpochResponse, listener: str) -> QuorumEpochAnswer:
    raise_for(response.error_code)
    part = one_of(one_of(response.topics).partitions)
    leader = leader_of(part.leader_id, part.leader_epoch, response.node_endpoints, listener)
    return QuorumEpochAnswer(error_of(part.error_code), leader)


def _voter(voter_id: int, directory_id: bytes) -> ReplicaKey | None:
    """None from a sender that did not say for whom its request is: version 0."""
    if id_of(voter_id) is None and directory_id == ZERO_ID:
        return None
    return ReplicaKey(voter_id, directory_id)
