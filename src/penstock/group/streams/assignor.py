"""Who gets which task: sticky, as Kafka's own assignor for streams groups.

Its guarantees: every task is active at exactly one member; no member has more active tasks than an
even share, rounded up; a task stays where it is active, or goes to where a standby of it is, as
long as that member has room; copies of a task never share a process. Standbys that no process is
left for are not assigned.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from penstock.group.streams.configure import ConfiguredSubtopology
from penstock.group.streams.task import Tasks, TaskSet, each

Task = tuple[str, int]


class Subject(NamedTuple):
    """A member, as far as the assignor cares."""

    process_id: str
    before: TaskSet


class _Quota:
    """How many tasks a member may have: an even share of what is left for those with room."""

    def __init__(self, total: int, member_count: int) -> None:
        self._total = total
        self._members = member_count
        self.share = _even(total, member_count)

    def note(self, count: int) -> None:
        """A member now has so many tasks."""
        if count == self.share:
            self._members -= 1
            self._total -= count
            self.share = _even(self._total, self._members)


class _Process:
    def __init__(self, order: int) -> None:
        self.order = order
        self.counts: dict[str, int] = {}
        self.tasks: set[Task] = set()

    @property
    def load(self) -> float:
        return sum(self.counts.values()) / len(self.counts)

    @property
    def rank(self) -> tuple[float, int]:
        return self.load, self.order

    def least_loaded(self) -> str:
        return min(self.counts, key=lambda one: (self.counts[one], one))


class StickyAssignment:
    """One assignment in the making."""

    def __init__(
        self,
        members: Mapping[str, Subject],
        subtopologies: Mapping[str, ConfiguredSubtopology],
        standby_count: int,
    ) -> None:
        self._subtopologies = subtopologies
        self._standby_count = standby_count
        self._members = {member_id: members[member_id] for member_id in sorted(members)}
        self._processes: dict[str, _Process] = {}
        for member_id, subject in self._members.items():
            order = len(self._processes)
            process = self._processes.setdefault(subject.process_id, _Process(order))
            process.counts[member_id] = 0
        self._was_active, self._was_standby = _previous(self._members)
        self._active: dict[str, set[Task]] = {one: set() for one in self._members}
        self._standby: dict[str, set[Task]] = {one: set() for one in self._members}
        active_total = len(self._tasks(stateful_only=False))
        standby_total = len(self._tasks(stateful_only=True)) * standby_count
        self._active_quota = _Quota(active_total, len(self._members))
        self._quota = _Quota(active_total + standby_total, len(self._members))

    def assign(self) -> dict[str, TaskSet]:
        self._assign_active()
        if self._standby_count:
            self._assign_standby()
        return {
            one: TaskSet(_compact(self._active[one]), _compact(self._standby[one]))
            for one in self._members
        }

    def _tasks(self, stateful_only: bool) -> list[Task]:
        """Partitions with the same number together: what is joined lies side by side."""
        found = [
            (name, partition)
            for name, one in self._subtopologies.items()
            if one.is_stateful or not stateful_only
            for partition in range(one.task_count)
        ]
        return sorted(found, key=lambda task: (task[1], task[0]))

    # --- active tasks ---

    def _assign_active(self) -> None:
        left = [one for one in self._tasks(stateful_only=False) if not self._keep_active(one)]
        left = [one for one in left if not self._promote(one)]
        queue = [(*process.rank, process) for process in self._processes.values()]
        heapq.heapify(queue)
        for task in sorted(left):
            process = queue[0][2]
            self._add_active(process.least_loaded(), task)
            heapq.heapreplace(queue, (*process.rank, process))

    def _keep_active(self, task: Task) -> bool:
        member_id = self._was_active.get(task)
        return member_id is not None and self._try_active(member_id, task)

    def _promote(self, task: Task) -> bool:
        """To where a standby was."""
        member_id = self._least_loaded(self._was_standby.get(task, ()))
        return member_id is not None and self._try_active(member_id, task)

    def _try_active(self, member_id: str, task: Task) -> bool:
        if self._count(member_id) >= self._active_quota.share:
            return False
        self._add_active(member_id, task)
        return True

    def _add_active(self, member_id: str, task: Task) -> None:
        self._active[member_id].add(task)
        count = self._add(member_id, task)
        self._active_quota.note(count)

    # --- standby tasks ---

    def _assign_standby(self) -> None:
        left: list[Task] = []
        for task in reversed(self._tasks(stateful_only=True)):
            for _ in range(self._standby_count):
                if not self._keep_standby(task):
                    left.append(task)
        queue = [(*process.rank, process) for process in self._processes.values()]
        heapq.heapify(queue)
        for task in sorted(left, reverse=True):
            self._add_where_it_is_not(queue, task)

    def _keep_standby(self, task: Task) -> bool:
        """Where it was active there is state of it, else where a standby was."""
        was_active = self._was_active.get(task)
        if was_active is not None and self._try_standby(was_active, task):
            return True
        before = [
            one for one in self._was_standby.get(task, ()) if task not in self._process(one).tasks
        ]
        member_id = self._least_loaded(before)
        return member_id is not None and self._try_standby(member_id, task)

    def _try_standby(self, member_id: str, task: Task) -> bool:
        if task in self._process(member_id).tasks or self._count(member_id) >= self._quota.share:
            return False
        self._add_standby(member_id, task)
        return True

    def _add_where_it_is_not(self, queue: list[tuple[float, int, _Process]], task: Task) -> None:
        passed = []
        while queue:
            entry = heapq.heappop(queue)
            process = entry[2]
            if task not in process.tasks:
                self._add_standby(process.least_loaded(), task)
                passed.append((*process.rank, process))
                break
            passed.append(entry)
        for entry in passed:
            heapq.heappush(queue, entry)

    def _add_standby(self, member_id: str, task: Task) -> None:
        self._standby[member_id].add(task)
        self._add(member_id, task)

    # --- both ---

    def _add(self, member_id: str, task: Task) -> int:
        process = self._process(member_id)
        process.tasks.add(task)
        process.counts[member_id] += 1
        self._quota.note(process.counts[member_id])
        return process.counts[member_id]

    def _process(self, member_id: str) -> _Process:
        return self._processes[self._members[member_id].process_id]

    def _count(self, member_id: str) -> int:
        return self._process(member_id).counts[member_id]

    def _least_loaded(self, member_ids: Iterable[str]) -> str | None:
        return min(
            member_ids, key=lambda one: (self._process(one).load, self._count(one)), default=None
        )


def _previous(members: Mapping[str, Subject]) -> tuple[dict[Task, str], dict[Task, list[str]]]:
    active: dict[Task, str] = {}
    standby: dict[Task, list[str]] = {}
    for member_id, subject in members.items():
        active.update(dict.fromkeys(each(subject.before.active), member_id))
        for tasks in (subject.before.standby, subject.before.warmup):
            for task in each(tasks):
                standby.setdefault(task, []).append(member_id)
    return active, standby


def _even(total: int, member_count: int) -> int:
    return -(-total // member_count) if member_count else 0


def _compact(tasks: Iterable[Task]) -> Tasks:
    found: dict[str, set[int]] = {}
    for name, partition in sorted(tasks):
        found.setdefault(name, set()).add(partition)
    return {name: frozenset(partitions) for name, partitions in found.items()}
