"""Every message of raft: from a value to what goes out, from what came in to a value.

Owns which translation belongs to which message. A node alone never gets here, and never loads it.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from penstock.model.error import ApiError, ErrorCode, InvariantError
from penstock.protocol.entity import Entity
from penstock.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from penstock.protocol.messages.api_versions import ApiVersionsResponse
from penstock.protocol.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)
from penstock.protocol.messages.end_quorum_epoch import (
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from penstock.protocol.messages.fetch import FetchRequest, FetchResponse
from penstock.protocol.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
)
from penstock.protocol.messages.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from penstock.protocol.messages.update_raft_voter import (
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from penstock.protocol.messages.vote import VoteRequest, VoteResponse
from penstock.quorum import election_wire as election
from penstock.quorum import fetch_wire as fetching
from penstock.quorum import voter_wire as voting
from penstock.quorum.calls import Received
from penstock.raft.message import (
    AddVoter,
    AskVersions,
    BeginQuorumEpoch,
    EndQuorumEpoch,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    FetchSnapshotAnswer,
    QuorumEpochAnswer,
    RaftAnswer,
    RaftRequest,
    RemoveVoter,
    UpdateVoter,
    Vote,
    VoteAnswer,
    VoterChangeAnswer,
)
from penstock.records.header import Buffer

RESPONSES: dict[type[Entity], type[Entity]] = {
    VoteRequest: VoteResponse,
    BeginQuorumEpochRequest: BeginQuorumEpochResponse,
    EndQuorumEpochRequest: EndQuorumEpochResponse,
    FetchRequest: FetchResponse,
    FetchSnapshotRequest: FetchSnapshotResponse,
    AddRaftVoterRequest: AddRaftVoterResponse,
    RemoveRaftVoterRequest: RemoveRaftVoterResponse,
    UpdateRaftVoterRequest: UpdateRaftVoterResponse,
}


class Outgoing(NamedTuple):
    request: Entity
    version: int | None = None
    """The only one it may go out in; the highest that both speak, if none is named."""


def encode_request(value: RaftRequest, cluster_id: str, bytes_max: int) -> Outgoing:
    if isinstance(value, Fetch):
        return Outgoing(fetching.encode_fetch(value, cluster_id, bytes_max))
    if isinstance(value, FetchSnapshot):
        return Outgoing(fetching.encode_fetch_snapshot(value, cluster_id, bytes_max))
    if isinstance(value, Vote):
        # An older version cannot say that it is only asked, and would change the other's epoch.
        version = election.PRE_VOTE_VERSION if value.pre_vote else None
        return Outgoing(election.encode_vote(value, cluster_id), version)
    if isinstance(value, BeginQuorumEpoch):
        return Outgoing(election.encode_begin(value, cluster_id))
    if isinstance(value, EndQuorumEpoch):
        return Outgoing(election.encode_end(value, cluster_id))
    if isinstance(value, AddVoter):
        version = None if value.ack_when_committed else voting.ACK_WHEN_WRITTEN_VERSION
        return Outgoing(voting.encode_add(value, cluster_id), version)
    if isinstance(value, RemoveVoter):
        return Outgoing(voting.encode_remove(value, cluster_id))
    if isinstance(value, UpdateVoter):
        return Outgoing(voting.encode_update(value, cluster_id))
    return Outgoing(voting.encode_ask_versions())


def decode_answer(asked: RaftRequest, response: Entity, listener: str) -> Received:
    """ApiError for an error of the request as a whole, ProtocolError for what makes no sense."""
    if isinstance(asked, Fetch):
        answer, data = fetching.decode_fetch_answer(cast(FetchResponse, response), asked, listener)
        return Received(answer, data)
    if isinstance(asked, FetchSnapshot):
        return Received(
            *fetching.decode_fetch_snapshot_answer(cast(FetchSnapshotResponse, response), listener)
        )
    if isinstance(asked, Vote):
        return Received(election.decode_vote_answer(cast(VoteResponse, response), listener))
    if isinstance(asked, BeginQuorumEpoch):
        return Received(
            election.decode_begin_answer(cast(BeginQuorumEpochResponse, response), listener)
        )
    if isinstance(asked, EndQuorumEpoch):
        return Received(
            election.decode_end_answer(cast(EndQuorumEpochResponse, response), listener)
        )
    if isinstance(asked, AddVoter):
        return Received(voting.decode_add_answer(cast(AddRaftVoterResponse, response)))
    if isinstance(asked, RemoveVoter):
        return Received(voting.decode_remove_answer(cast(RemoveRaftVoterResponse, response)))
    if isinstance(asked, UpdateVoter):
        return Received(
            voting.decode_update_answer(cast(UpdateRaftVoterResponse, response), listener)
        )
    assert isinstance(asked, AskVersions)
    return Received(voting.decode_versions(cast(ApiVersionsResponse, response)))


def check_cluster(request: Entity, cluster_id: str) -> None:
    """A node of another cluster is refused before anything else (KAFKA-13528)."""
    named = getattr(request, "cluster_id", None)
    if named is not None and named != cluster_id:
        raise ApiError(ErrorCode.INCONSISTENT_CLUSTER_ID)


def decode_request(request: Entity) -> RaftRequest:
    """ApiError for what is not about the metadata partition."""
    if isinstance(request, FetchRequest):
        return fetching.decode_fetch(request)
    if isinstance(request, FetchSnapshotRequest):
        return fetching.decode_fetch_snapshot(request)
    if isinstance(request, VoteRequest):
        return election.decode_vote(request)
    if isinstance(request, BeginQuorumEpochRequest):
        return election.decode_begin(request)
    if isinstance(request, EndQuorumEpochRequest):
        return election.decode_end(request)
    if isinstance(request, AddRaftVoterRequest):
        return voting.decode_add(request)
    if isinstance(request, RemoveRaftVoterRequest):
        return voting.decode_remove(request)
    if isinstance(request, UpdateRaftVoterRequest):
        return voting.decode_update(request)
    raise InvariantError(f"{request.NAME} is none of raft's requests")


def encode_answer(request: Entity, answer: RaftAnswer, data: Buffer, listener: str) -> Entity:
    if isinstance(answer, FetchAnswer):
        return fetching.encode_fetch_answer(answer, data, listener)
    if isinstance(answer, FetchSnapshotAnswer):
        return fetching.encode_fetch_snapshot_answer(answer, data, listener)
    if isinstance(answer, VoteAnswer):
        return election.encode_vote_answer(answer, listener)
    if isinstance(answer, QuorumEpochAnswer):
        if isinstance(request, BeginQuorumEpochRequest):
            return election.encode_begin_answer(answer, listener)
        return election.encode_end_answer(answer, listener)
    if isinstance(answer, VoterChangeAnswer):
        if isinstance(request, AddRaftVoterRequest):
            return voting.encode_add_answer(answer)
        if isinstance(request, RemoveRaftVoterRequest):
            return voting.encode_remove_answer(answer)
        return voting.encode_update_answer(answer, listener)
    raise InvariantError(f"{answer!r} is no answer to a request")


def encode_refusal(request: Entity, code: ErrorCode) -> Entity:
    """An error of the request as a whole: one of the partition can end a Kafka process."""
    return RESPONSES[type(request)](error_code=code)  # type: ignore[call-arg]
