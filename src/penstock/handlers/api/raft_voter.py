"""AddRaftVoter and RemoveRaftVoter: a cluster of one has one voter for good, as a quorum has whose
`kraft.version` is 0."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from penstock.protocol.messages.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)


def handle(
    broker: Broker, request: AddRaftVoterRequest | RemoveRaftVoterRequest, call: Call
) -> Answer:
    adds = isinstance(request, AddRaftVoterRequest)
    code = ErrorCode.UNSUPPORTED_VERSION
    message = (
        f"Cluster doesn't support {'adding' if adds else 'removing'} voter because the "
        "kraft.version feature is 0"
    )
    if request.cluster_id is not None and request.cluster_id != broker.cluster_id:
        code = ErrorCode.INCONSISTENT_CLUSTER_ID
        message = (
            f'The given id "{request.cluster_id}" doesn\'t match the cluster id '
            f'"{broker.cluster_id}"'
        )
    response = AddRaftVoterResponse if adds else RemoveRaftVoterResponse
    return response(error_code=code, error_message=message)
