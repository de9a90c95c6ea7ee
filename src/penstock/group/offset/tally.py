"""How often groups commit, and which of them have since somebody last looked."""

from __future__ import annotations


class CommitTally:
    __slots__ = ("changed", "counts")

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        """Offsets committed, since the tally began."""
        self.changed: set[str] = set()

    def note(self, group_id: str, commits: int) -> None:
        self.counts[group_id] = self.counts.get(group_id, 0) + commits
        self.changed.add(group_id)

    def take_changed(self) -> set[str]:
        changed, self.changed = self.changed, set()
        return changed

    def forget(self, group_id: str) -> None:
        self.counts.pop(group_id, None)
