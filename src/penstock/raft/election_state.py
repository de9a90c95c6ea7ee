"""What a node must not forget about elections, not even in a crash: `quorum-state` on disk."""

from __future__ import annotations

from typing import NamedTuple

from penstock.raft.voter import ReplicaKey


class ElectionState(NamedTuple):
    """A leader that resigned stays named until the epoch ends: nobody else can lead it."""

    epoch: int = 0
    leader_id: int | None = None
    voted: ReplicaKey | None = None
