"""Changes of the voters, and what a node supports, between Kafka's messages and raft's values."""

from __future__ import annotations

from penstock.protocol.messages import add_raft_voter as add
from penstock.protocol.messages import remove_raft_voter as remove
from penstock.protocol.messages import update_raft_voter as update
from penstock.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from penstock.quorum.wire_part import endpoint_on, error_of, id_of, number, raise_for
from penstock.raft import RaftEndpoint, ReplicaKey, VersionRange, Voter
from penstock.raft.message import (
    AddVoter,
    CurrentLeader,
    RemoveVoter,
    UpdateVoter,
    VersionsAnswer,
    VoterChangeAnswer,
)

KRAFT_VERSION_FEATURE = "kraft.version"
ACK_WHEN_WRITTEN_VERSION = 1
_NOT_TOLD = CurrentLeader(None, -1)

# --- AddRaftVoter ---


def encode_add(value: AddVoter, cluster_id: str) -> add.AddRaftVoterRequest:
    return add.AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=value.timeout_ms,
        voter_id=value.voter.key.id,
        voter_directory_id=value.voter.key.directory_id,
        listeners=[
            add.Listener(name=one.listener, host=one.host, port=one.port)
            for one in value.voter.endpoints
        ],
        ack_when_committed=value.ack_when_committed,
    )


def decode_add(request: add.AddRaftVoterRequest) -> AddVoter:
    endpoints = tuple(RaftEndpoint(one.name, one.host, one.port) for one in request.listeners)
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    return AddVoter(Voter(key, endpoints), request.timeout_ms, request.ack_when_committed)


def encode_add_answer(answer: VoterChangeAnswer) -> add.AddRaftVoterResponse:
    return add.AddRaftVoterResponse(error_code=answer.error, error_message=answer.message)


def decode_add_answer(response: add.AddRaftVoterResponse) -> VoterChangeAnswer:
    return VoterChangeAnswer(error_of(response.error_code), _NOT_TOLD, response.error_message)


# --- RemoveRaftVoter ---


def encode_remove(value: RemoveVoter, cluster_id: str) -> remove.RemoveRaftVoterRequest:
    return remove.RemoveRaftVoterRequest(
        cluster_id=cluster_id,
        voter_id=value.voter.id,
        voter_directory_id=value.voter.directory_id,
    )


def decode_remove(request: remove.RemoveRaftVoterRequest) -> RemoveVoter:
    return RemoveVoter(ReplicaKey(request.voter_id, request.voter_directory_id))


def encode_remove_answer(answer: VoterChangeAnswer) -> remove.RemoveRaftVoterResponse:
    return remove.RemoveRaftVoterResponse(error_code=answer.error, error_message=answer.message)


def decode_remove_answer(response: remove.RemoveRaftVoterResponse) -> VoterChangeAnswer:
    return VoterChangeAnswer(error_of(response.error_code), _NOT_TOLD, response.error_message)


# --- UpdateRaftVoter ---


def encode_update(value: UpdateVoter, cluster_id: str) -> update.UpdateRaftVoterRequest:
    versions = value.voter.kraft_versions
    return update.UpdateRaftVoterRequest(
        cluster_id=cluster_id,
        current_leader_epoch=value.epoch,
        voter_id=value.voter.key.id,
        voter_directory_id=value.voter.key.directory_id,
        listeners=[
            update.Listener(name=one.listener, host=one.host, port=one.port)
            for one in value.voter.endpoints
        ],
        kraft_version_feature=update.KRaftVersionFeature(
            min_supported_version=versions.min, max_supported_version=versions.max
        ),
    )


def decode_update(request: update.UpdateRaftVoterRequest) -> UpdateVoter:
    endpoints = tuple(RaftEndpoint(one.name, one.host, one.port) for one in request.listeners)
    feature = request.kraft_version_feature
    return UpdateVoter(
        request.current_leader_epoch,
        Voter(
            ReplicaKey(request.voter_id, request.voter_directory_id),
            endpoints,
            VersionRange(feature.min_supported_version, feature.max_supported_version),
        ),
    )


def encode_update_answer(
    answer: VoterChangeAnswer, listener: str
) -> update.UpdateRaftVoterResponse:
    leader = answer.leader
    endpoint = endpoint_on(leader.endpoints, listener) or RaftEndpoint(listener, "", 0)
    return update.UpdateRaftVoterResponse(
        error_code=answer.error,
        current_leader=update.CurrentLeader(
            leader_id=number(leader.leader_id),
            leader_epoch=leader.epoch,
            host=endpoint.host,
            port=endpoint.port,
        ),
    )


def decode_update_answer(
    response: update.UpdateRaftVoterResponse, listener: str
) -> VoterChangeAnswer:
    known = response.current_leader
    leader = _NOT_TOLD
    if known is not None:
        endpoints = (RaftEndpoint(listener, known.host, known.port),) if known.host else ()
        leader = CurrentLeader(id_of(known.leader_id), known.leader_epoch, endpoints)
    return VoterChangeAnswer(error_of(response.error_code), leader)


# --- ApiVersions ---


def encode_ask_versions() -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name="penstock", client_software_version="raft")


def decode_versions(response: ApiVersionsResponse) -> VersionsAnswer:
    raise_for(response.error_code)
    for feature in response.supported_features:
        if feature.name == KRAFT_VERSION_FEATURE:
            versions = VersionRange(feature.min_version, feature.max_version)
            return VersionsAnswer(error_of(0), versions)
    return VersionsAnswer(error_of(0))
