"""Which voters and which kraft.version the log names at which offset.

Owns the entries of the log and of its snapshot. A VotersRecord counts from the moment it is
appended and stops counting when it is truncated, so the entries before it are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from penstock.raft.voter import VoterSet

NOT_IN_LOG = -1

T = TypeVar("T")


class ControlEntry(NamedTuple):
    """What a control record at `offset` says; None for what it does not speak of.

    What a snapshot says stands at the last offset in it: at -1 for the one a node is formatted
    with.
    """

    offset: int
    voters: VoterSet | None = None
    kraft_version: int | None = None


class VoterHistory:
    """Begins with the configured voters, which count until the log names others."""

    __slots__ = ("_static", "_versions", "_voters")

    def __init__(
        self, static: VoterSet | None = None, entries: Sequence[ControlEntry] = ()
    ) -> None:
        self._static = static or VoterSet()
        self._voters: list[tuple[int, VoterSet]] = []
        self._versions: list[tuple[int, int]] = []
        self.add(entries)

    @property
    def voters(self) -> VoterSet:
        return self._voters[-1][1] if self._voters else self._static

    @property
    def voters_offset(self) -> int:
        """Where the voters that count were written; `NOT_IN_LOG` for the configured ones."""
        return self._voters[-1][0] if self._voters else NOT_IN_LOG

    @property
    def kraft_version(self) -> int:
        return self._versions[-1][1] if self._versions else 0

    def voters_before(self, offset: int) -> VoterSet:
        """The voters as the records below `offset` name them: what a snapshot up to there says."""
        named = [voters for at, voters in self._voters if at < offset]
        return named[-1] if named else self._static

    def kraft_version_before(self, offset: int) -> int:
        named = [version for at, version in self._versions if at < offset]
        return named[-1] if named else 0

    def add(self, entries: Sequence[ControlEntry]) -> None:
        for entry in entries:
            if entry.voters is not None:
                self._voters.append((entry.offset, entry.voters))
            if entry.kraft_version is not None:
                self._versions.append((entry.offset, entry.kraft_version))

    def truncate(self, end_offset: int) -> None:
        self._voters = [one for one in self._voters if one[0] < end_offset]
        self._versions = [one for one in self._versions if one[0] < end_offset]

    def trim(self, start_offset: int) -> None:
        """Forget what is below `start_offset`, save for the last of it, which still counts."""
        self._voters = _from(self._voters, start_offset)
        self._versions = _from(self._versions, start_offset)

    def replace(self, entries: Sequence[ControlEntry]) -> None:
        """A snapshot took the place of the log."""
        self._voters.clear()
        self._versions.clear()
        self.add(entries)


def _from(entries: list[tuple[int, T]], start_offset: int) -> list[tuple[int, T]]:
    below = [one for one in entries if one[0] < start_offset]
    return below[-1:] + [one for one in entries if one[0] >= start_offset]
