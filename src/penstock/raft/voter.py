"""Who votes: replicas by id and directory, where they listen, and sets of them (KIP-853).

Owns values only. A set never changes; a change makes another set. Which set counts when is the
business of `voter_history`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from penstock.model.id import ZERO_ID

DirectoryId = bytes


class ReplicaKey(NamedTuple):
    """A zero directory id means that the directory is not known: static voters have none."""

    id: int
    directory_id: DirectoryId = ZERO_ID

    def accepts(self, other: ReplicaKey) -> bool:
        """Whether `other` may be this one; an unknown directory of this one fits any."""
        if self.id != other.id:
            return False
        return self.directory_id in (ZERO_ID, other.directory_id)


class RaftEndpoint(NamedTuple):
    listener: str
    host: str
    port: int


Endpoints = tuple[RaftEndpoint, ...]


class Node(NamedTuple):
    """Whom a request goes to. Bootstrap servers, whose ids nobody knows yet, count from -2 down."""

    id: int
    endpoints: Endpoints = ()


class VersionRange(NamedTuple):
    min: int = 0
    max: int = 0

    def holds(self, version: int) -> bool:
        return self.min <= version <= self.max


class Voter(NamedTuple):
    key: ReplicaKey
    endpoints: Endpoints = ()
    kraft_versions: VersionRange = VersionRange()

    @property
    def node(self) -> Node:
        return Node(self.key.id, self.endpoints)


class VoterSet:
    """Voters by id: one directory per id."""

    __slots__ = ("_voters",)

    def __init__(self, voters: Iterable[Voter] = ()) -> None:
        by_id = sorted((voter.key.id, voter) for voter in voters)
        self._voters: Mapping[int, Voter] = dict(by_id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self._voters == other._voters

    def __hash__(self) -> int:
        return hash(tuple(self._voters.values()))

    def __len__(self) -> int:
        return len(self._voters)

    def __repr__(self) -> str:
        return f"VoterSet({sorted(self._voters)})"

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self._voters)

    @property
    def voters(self) -> tuple[Voter, ...]:
        return tuple(self._voters.values())

    @property
    def majority(self) -> int:
        return len(self._voters) // 2 + 1

    def get(self, voter_id: int) -> Voter | None:
        return self._voters.get(voter_id)

    def includes(self, key: ReplicaKey) -> bool:
        """A voter with another directory than the set names is no voter: its disk is a new one."""
        voter = self._voters.get(key.id)
        return voter is not None and voter.key.accepts(key)

    def others(self, node_id: int) -> tuple[Voter, ...]:
        return tuple(voter for voter in self._voters.values() if voter.key.id != node_id)

    def endpoints_of(self, voter_id: int) -> Endpoints:
        voter = self._voters.get(voter_id)
        return voter.endpoints if voter is not None else ()

    def with_voter(self, voter: Voter) -> VoterSet:
        """Added, or put in place of the one with the same id."""
        return VoterSet({**self._voters, voter.key.id: voter}.values())

    def without(self, voter_id: int) -> VoterSet:
        return VoterSet(voter for voter in self._voters.values() if voter.key.id != voter_id)
