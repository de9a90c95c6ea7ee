"""Kafka's raft (KIP-595, KIP-853, KIP-996) as a pure machine.

`RaftMachine` takes requests, answers and the time, and says in a `Ready` what to persist, append,
truncate and send. The host (`quorum`) does that, in that order.
"""

from penstock.raft.config import RaftConfig
from penstock.raft.election_state import ElectionState
from penstock.raft.log_view import EpochEnd, LogView, SnapshotId
from penstock.raft.machine import RaftMachine
from penstock.raft.ready import (
    AppendControl,
    AppendFetched,
    LeaderChange,
    LogWork,
    Ready,
    Role,
    RoleView,
    SendAnswer,
    SendRequest,
    Truncate,
    WriteChunk,
)
from penstock.raft.view import QuorumView, ReplicaView
from penstock.raft.voter import Node, RaftEndpoint, ReplicaKey, VersionRange, Voter, VoterSet
from penstock.raft.voter_history import ControlEntry, VoterHistory

__all__ = [
    "AppendControl",
    "AppendFetched",
    "ControlEntry",
    "ElectionState",
    "EpochEnd",
    "LeaderChange",
    "LogView",
    "LogWork",
    "Node",
    "QuorumView",
    "RaftConfig",
    "RaftEndpoint",
    "RaftMachine",
    "Ready",
    "ReplicaKey",
    "ReplicaView",
    "Role",
    "RoleView",
    "SendAnswer",
    "SendRequest",
    "SnapshotId",
    "Truncate",
    "VersionRange",
    "Voter",
    "VoterHistory",
    "VoterSet",
    "WriteChunk",
]
