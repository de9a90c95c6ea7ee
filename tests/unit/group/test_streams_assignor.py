"""The assignor of streams groups: its guarantees, over many groups drawn by chance."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from penstock.group.streams.assignor import StickyAssignment, Subject
from penstock.group.streams.configure import ConfiguredSubtopology
from penstock.group.streams.task import TaskSet, each

Subtopologies = dict[str, ConfiguredSubtopology]

ROUNDS_MAX = 6


def subtopology(tasks: int, stateful: bool = True) -> ConfiguredSubtopology:
    return ConfiguredSubtopology(tasks, stateful, (), ())


def assign(
    members: dict[str, str],
    subtopologies: Subtopologies,
    standbys: int = 0,
    before: dict[str, TaskSet] | None = None,
) -> dict[str, TaskSet]:
    """`members` has the process of each."""
    subjects = {
        one: Subject(process, (before or {}).get(one, TaskSet()))
        for one, process in members.items()
    }
    return StickyAssignment(subjects, subtopologies, standbys).assign()


def check(
    found: dict[str, TaskSet], members: dict[str, str], subs: Subtopologies, standbys: int
) -> None:
    active = Counter(task for one in found.values() for task in each(one.active))
    wanted = {(name, task) for name, one in subs.items() for task in range(one.task_count)}
    assert active == Counter(dict.fromkeys(wanted, 1))
    counts = [sum(1 for _ in each(one.active)) for one in found.values()]
    assert max(counts) <= -(-len(wanted) // len(members))
    copies: dict[tuple[str, int], list[str]] = {}
    for member, one in found.items():
        for tasks in (one.active, one.standby):
            for task in each(tasks):
                copies.setdefault(task, []).append(members[member])
    process_count = len(set(members.values()))
    for (name, _), places in copies.items():
        assert len(places) == len(set(places)), "two copies in one process"
        expected = 1 + min(standbys, process_count - 1) if subs[name].is_stateful else 1
        assert len(places) == expected


def check_settles(
    found: dict[str, TaskSet], members: dict[str, str], subs: Subtopologies, standbys: int
) -> None:
    """Where nobody comes or goes, tasks stay: if not at once, after a few assignments."""
    for _ in range(ROUNDS_MAX):
        again = assign(members, subs, standbys, found)
        if again == found:
            return
        check(again, members, subs, standbys)
        found = again
    pytest.fail("tasks go on moving")


@pytest.mark.parametrize("seed", range(60))
def test_guarantees(seed: int) -> None:
    chance = random.Random(seed)
    subs = {
        str(one): subtopology(chance.randint(1, 9), chance.random() < 0.6)
        for one in range(chance.randint(1, 4))
    }
    standbys = chance.randint(0, 2)
    before: dict[str, TaskSet] = {}
    names = iter(range(1_000))
    members: dict[str, str] = {}
    for _ in range(8):
        for gone in [one for one in members if chance.random() < 0.25]:
            del members[gone]
        for _ in range(chance.randint(0 if members else 1, 3)):
            members[f"m{next(names)}"] = f"p{chance.randint(0, 4)}"
        before = assign(members, subs, standbys, before)
        check(before, members, subs, standbys)
        check_settles(before, members, subs, standbys)


def test_tasks_of_one_number_lie_side_by_side() -> None:
    found = assign({"a": "p", "b": "q"}, {"0": subtopology(2), "1": subtopology(2)})
    assert found["a"].active == {"0": {0}, "1": {0}}
    assert found["b"].active == {"0": {1}, "1": {1}}


def test_a_new_member_takes_no_more_than_its_share() -> None:
    subs = {"0": subtopology(6)}
    before = assign({"a": "p", "b": "q"}, subs)
    after = assign({"a": "p", "b": "q", "c": "r"}, subs, before=before)
    for one in "ab":
        assert after[one].active["0"] < before[one].active["0"]
        assert len(after[one].active["0"]) == 2


def test_a_standby_takes_over() -> None:
    before = {"b": TaskSet({"0": frozenset({0})}, {"0": frozenset({1})}), "c": TaskSet()}
    after = assign({"b": "q", "c": "r"}, {"0": subtopology(3)}, 1, before)
    assert after["b"].active["0"] == {0, 1}


def test_large_groups_are_quick() -> None:
    """A thousand members and ten thousand tasks, without a look at each member for each task."""
    members = {f"m{one}": f"p{one // 4}" for one in range(1_000)}
    subs = {"0": subtopology(5_000), "1": subtopology(5_000, stateful=False)}
    found = assign(members, subs, 1)
    check(found, members, subs, 1)
