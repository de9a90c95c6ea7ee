"""Tasks of a streams application, by subtopology: what a member shall have, and what it has.

A task is a subtopology and a partition of its sources. Light: every shard loads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

Tasks = Mapping[str, frozenset[int]]
"""No subtopology stands here without tasks."""

TaskEpochs = Mapping[str, Mapping[int, int]]
"""Each task with the epoch that it was assigned in."""

_NO_TASKS: Tasks = {}
_NO_EPOCHS: TaskEpochs = {}


class TaskSet(NamedTuple):
    active: Tasks = _NO_TASKS
    standby: Tasks = _NO_TASKS
    warmup: Tasks = _NO_TASKS


class OwnedTasks(NamedTuple):
    active: TaskEpochs = _NO_EPOCHS
    standby: Tasks = _NO_TASKS
    warmup: Tasks = _NO_TASKS

    @property
    def is_empty(self) -> bool:
        return not (self.active or self.standby or self.warmup)

    @property
    def tasks(self) -> TaskSet:
        active = {name: frozenset(found) for name, found in self.active.items()}
        return TaskSet(active, self.standby, self.warmup)


def each(tasks: Mapping[str, frozenset[int] | Mapping[int, int]]) -> Iterator[tuple[str, int]]:
    for subtopology_id, found in tasks.items():
        for partition in found:
            yield subtopology_id, partition


def has_any(tasks: TaskSet, of: OwnedTasks) -> bool:
    return any(
        not wanted.isdisjoint(having.get(subtopology_id, ()))
        for having, found in zip(tasks, of.tasks, strict=True)
        for subtopology_id, wanted in found.items()
    )


def has_all(tasks: TaskSet, of: OwnedTasks) -> bool:
    """Whether all of `tasks` are among the owned."""
    return all(
        found <= owned.get(subtopology_id, frozenset())
        for having, owned in zip(tasks, of.tasks, strict=True)
        for subtopology_id, found in having.items()
    )


NO_TASKS = OwnedTasks()
