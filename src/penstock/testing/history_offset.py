"""Where a group may start: at its last commit, or at one that was under way meanwhile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from penstock.model.id import TopicPartition
from penstock.testing.history_event import Commit
from penstock.testing.history_index import Fate, History

Key = tuple[str, TopicPartition]


def stale_positions(history: History) -> Iterator[tuple[TopicPartition, str]]:
    commits: dict[Key, list[Commit]] = defaultdict(list)
    for commit in history.commits:
        if history.fate(commit) is not Fate.NEVER:
            commits[commit.group, commit.partition].append(commit)
    for assign in history.assigns:
        if assign.group is None:
            continue
        known = commits[assign.group, assign.partition]
        allowed = _allowed(history, known, assign.began_s, assign.ended_s)
        if assign.position not in allowed:
            expected = ", ".join(str(offset) for offset in sorted(allowed, key=lambda o: o or -1))
            detail = f"{assign.process} of {assign.group} got {assign.position}, not {expected}"
            yield assign.partition, detail


def _allowed(
    history: History, commits: list[Commit], began_s: float, ended_s: float
) -> set[int | None]:
    settled = [
        commit
        for commit in commits
        if history.fate(commit) is Fate.HAPPENED and history.settled_s(commit) <= began_s
    ]
    # Nothing that was over before this moment can still be the newest commit.
    newest_s = max((commit.began_s for commit in settled), default=None)
    allowed: set[int | None] = {None} if newest_s is None else set()
    for commit in commits:
        over = history.fate(commit) is Fate.HAPPENED and newest_s is not None
        if over and newest_s is not None and history.settled_s(commit) < newest_s:
            continue
        if commit.began_s <= ended_s:
            allowed.add(commit.offset)
    return allowed
