"""The machines of the saga: nothing is left unsaid, and whatever the topics do, the books agree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from penstock.saga import tables
from penstock.saga.checker import check
from penstock.saga.drawing import diagram, table
from penstock.saga.machine import NEW, Machine
from penstock.saga.reaction import FAULTS, Fault, topics_of
from tests.saga.saga_world import run

PAGE = Path(__file__).parents[2] / "docs" / "saga.md"
SEEDS = range(100)

machines = pytest.mark.parametrize("machine", tables.MACHINES, ids=lambda each: each.name)


@machines
def test_every_state_and_event_is_spoken_of_once(machine: Machine) -> None:
    ruled = {(rule.state, rule.event) for rule in machine.rules}
    every = {(state, event) for state in machine.states for event in machine.events}
    assert ruled | machine.ignored == every
    assert ruled & machine.ignored == set()


@machines
def test_a_question_has_an_answer_for_no(machine: Machine) -> None:
    for rule in machine.rules:
        if rule.when is not None:
            assert machine.step(rule.state, rule.event, lambda _: False) is not None


@machines
def test_every_state_can_be_reached_and_left_or_is_an_end(machine: Machine) -> None:
    reached = {rule.to for rule in machine.rules} | {NEW}
    left = {rule.state for rule in machine.rules}
    assert set(machine.states) == reached
    assert set(machine.states) - left <= machine.ends


def test_every_event_is_emitted_by_one_service_and_somebody_knows_it() -> None:
    emitted = Counter(
        topic
        for machine in tables.MACHINES
        for topic in {each for rule in machine.rules for each in rule.emits}
    )
    assert emitted == dict.fromkeys(tables.TOPICS, 1)
    read = {topic for machine in tables.MACHINES for topic in topics_of(machine)}
    # For people and for what comes after the saga.
    assert set(tables.TOPICS) - read == {tables.REFUNDED, tables.NOTIFIED}


def test_late_doubled_and_unordered_events_come_to_an_explained_end() -> None:
    ends: Counter[str] = Counter()
    for seed in SEEDS:
        books = run(seed)
        assert check(books) == [], seed
        ends.update(books.states["orders"].values())
        ends.update(f"payment {state}" for state in books.states["payment"].values())
    assert ends.keys() >= {"completed", "failed", "cancelled", "payment refunded", "payment void"}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("no-outbox", "is stuck"),
        ("no-idempotence", "was reserved"),
        ("no-compensation", "charges were kept"),
    ],
)
def test_planted_faults_are_found(fault: Fault, said: str) -> None:
    found = (line for seed in SEEDS for line in check(run(seed, [fault])))
    assert fault in FAULTS and any(said in line for line in found)


@machines
def test_the_page_shows_the_tables(machine: Machine) -> None:
    text = PAGE.read_text()
    assert diagram(machine) in text
    assert table(machine) in text
