"""Counting the answers of voters to one request for votes."""

from __future__ import annotations

from penstock.raft.voter import ReplicaKey, VoterSet


class Ballot:
    """The voters are those of the moment in which the election began."""

    __slots__ = ("_majority", "granting", "rejecting", "voters")

    def __init__(self, voters: VoterSet, own: ReplicaKey) -> None:
        self.voters = voters
        self._majority = voters.majority
        self.granting: set[int] = {own.id} if voters.includes(own) else set()
        self.rejecting: set[int] = set()

    def record(self, voter_id: int, granted: bool) -> None:
        if voter_id not in self.voters.ids:
            return
        if granted:
            self.granting.add(voter_id)
            self.rejecting.discard(voter_id)
        elif voter_id not in self.granting:
            self.rejecting.add(voter_id)

    @property
    def is_won(self) -> bool:
        return len(self.granting) >= self._majority

    @property
    def is_lost(self) -> bool:
        return len(self.voters) - len(self.rejecting) < self._majority

    @property
    def silent(self) -> tuple[int, ...]:
        return tuple(
            one for one in self.voters.ids if one not in self.granting and one not in self.rejecting
        )
