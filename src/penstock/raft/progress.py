"""How far each replica has come, as its fetches tell the leader."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.model.id import ZERO_ID
from penstock.raft.view import ReplicaView
from penstock.raft.voter import ReplicaKey, Voter

UNKNOWN = -1
CAUGHT_UP_FOR_MS = 3_600_000


@dataclass(slots=True)
class Progress:
    """Of one replica; unknown until it fetches from this leader."""

    end_offset: int = UNKNOWN
    last_fetch_ms: int = UNKNOWN
    last_caught_up_ms: int = UNKNOWN
    leader_end_offset: int = UNKNOWN
    """The leader's at the last fetch: whoever reaches it had caught up then."""

    def fetched(self, offset: int, leader_end_offset: int, now_ms: int) -> None:
        if offset >= leader_end_offset:
            self.last_caught_up_ms = now_ms
        elif self.leader_end_offset != UNKNOWN and offset >= self.leader_end_offset:
            self.last_caught_up_ms = max(self.last_fetch_ms, self.last_caught_up_ms)
        self.end_offset = offset
        self.leader_end_offset = leader_end_offset
        self.last_fetch_ms = now_ms

    def is_caught_up(self, now_ms: int) -> bool:
        if self.last_caught_up_ms == UNKNOWN:
            return False
        return self.last_fetch_ms > now_ms - CAUGHT_UP_FOR_MS


_NO_PROGRESS = Progress()


class ReplicaTable:
    """Everyone who fetched in this epoch, voters and observers, by id and directory."""

    __slots__ = ("_by_key", "_latest")

    def __init__(self) -> None:
        self._by_key: dict[ReplicaKey, Progress] = {}
        self._latest: dict[int, Progress] = {}

    def fetched(self, key: ReplicaKey, offset: int, leader_end_offset: int, now_ms: int) -> None:
        progress = self._by_key.setdefault(key, Progress())
        self._latest[key.id] = progress
        progress.fetched(offset, leader_end_offset, now_ms)

    def get(self, key: ReplicaKey) -> Progress | None:
        return self._by_key.get(key)

    def of_voter(self, voter: Voter) -> Progress:
        """A static voter's directory is not known: the one that fetched last speaks for it."""
        if voter.key.directory_id == ZERO_ID:
            return self._latest.get(voter.key.id, _NO_PROGRESS)
        return self._by_key.get(voter.key, _NO_PROGRESS)

    def forget(self, voters: Iterable[Voter], since_ms: int) -> None:
        """Drop observers that have not fetched since."""
        known = list(voters)
        for key, progress in list(self._by_key.items()):
            is_voter = any(voter.key.accepts(key) for voter in known)
            if not is_voter and progress.last_fetch_ms < since_ms:
                del self._by_key[key]

    def observers(self, voters: Iterable[Voter]) -> tuple[ReplicaView, ...]:
        known = list(voters)
        return tuple(
            view(key, progress)
            for key, progress in sorted(self._by_key.items(), key=lambda item: item[0])
            if not any(voter.key.accepts(key) for voter in known)
        )


def view(key: ReplicaKey, progress: Progress) -> ReplicaView:
    return ReplicaView(key, progress.end_offset, progress.last_fetch_ms, progress.last_caught_up_ms)


def majority_offset(offsets: Iterable[int]) -> int:
    """What more than half of the voters have."""
    held = sorted(offsets, reverse=True)
    return held[len(held) // 2] if held else UNKNOWN
