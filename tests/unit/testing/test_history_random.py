"""Histories made by a correct log, however clients fare, show nothing wrong; a broken log does."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from hypothesis import assume, given
from hypothesis import strategies as st

from penstock.model.id import TopicPartition
from penstock.testing.history import (
    Assign,
    Begin,
    Commit,
    End,
    Event,
    Fault,
    Outcome,
    Poll,
    Produce,
    Seen,
    check,
)

PARTITIONS = [TopicPartition("t", index) for index in range(2)]


@dataclass
class Log:
    """A perfect broker with forgetful clients. Transactions are atomic: they end as they begin."""

    dice: random.Random
    tagged: bool
    events: list[Event] = field(default_factory=list)
    stored: dict[TopicPartition, list[Seen | None]] = field(
        default_factory=lambda: {partition: [] for partition in PARTITIONS}
    )
    positions: dict[tuple[str, TopicPartition], int] = field(default_factory=dict)
    offsets: dict[TopicPartition, int | None] = field(default_factory=dict)
    copied: set[str] = field(default_factory=set)
    number: int = 0

    def step(self) -> None:
        self.dice.choice([self.write, self.transact, self.retry, self.poll, self.poll, self.move])()

    def write(self) -> None:
        self.number += 1
        taken, known = self.dice.random() < 0.8, self.dice.random() < 0.7
        self._produce(f"v{self.number}", None, taken, known, visible=taken)

    def transact(self) -> None:
        self.number += 1
        self._transaction([f"v{self.number}.{part}" for part in range(self.dice.randint(1, 4))])

    def retry(self) -> None:
        """What did not commit is tried again, as a copier does."""
        self._transaction(
            [f"copy{index}" for index in range(3) if f"copy{index}" not in self.copied]
        )

    def _transaction(self, values: list[str]) -> None:
        self.number += 1
        name = f"t{self.number}"
        process = self.dice.choice(["p0", "p1"])
        commits, known = self.dice.random() < 0.6, self.dice.random() < 0.6
        self.events.append(Begin(process=process, transaction=name))
        for value in values:
            self._produce(value, name, True, self.dice.random() < 0.8, visible=commits)
        where, offset = PARTITIONS[0], self.dice.randint(0, 9)
        base = {"process": "c", "group": "g", "partition": where, "offset": offset}
        self.events.append(Commit(**base, outcome=Outcome.OK, transaction=name))
        if commits:
            self.offsets[where] = offset
            self.copied |= set(values)
        for partition in PARTITIONS:
            self.stored[partition].append(None)
        self._end(process, name, commits, known)

    def _end(self, process: str, name: str, commits: bool, known: bool) -> None:
        base = {"process": process, "transaction": name}
        if commits or self.dice.random() < 0.5:
            self.events.append(End(**base, commit=True, outcome=Outcome.UNKNOWN))
            if known:
                outcome = Outcome.OK if commits else Outcome.FAILED
                self.events.append(End(**base, commit=True, outcome=outcome))
        elif known:
            self.events.append(End(**base, commit=False, outcome=Outcome.OK))

    def _produce(
        self, value: str, name: str | None, taken: bool, known: bool, *, visible: bool
    ) -> None:
        where = self.dice.choice(PARTITIONS)
        offset = len(self.stored[where])
        if taken:
            tag = name if self.tagged else None
            self.stored[where].append(Seen(offset, value, tag) if visible else None)
        outcome = Outcome.UNKNOWN if not known else Outcome.OK if taken else Outcome.FAILED
        self.events.append(
            Produce(
                process="p",
                partition=where,
                value=value,
                outcome=outcome,
                offset=offset if taken and known else None,
                transaction=name,
            )
        )

    def poll(self) -> None:
        reader, where = self.dice.choice(["r0", "r1"]), self.dice.choice(PARTITIONS)
        start = self.positions.setdefault((reader, where), 0)
        end = min(start + self.dice.randint(1, 8), len(self.stored[where]))
        self._read(reader, where, start, end)

    def finish(self) -> None:
        for where in PARTITIONS:
            self._read("final", where, 0, len(self.stored[where]))

    def _read(self, reader: str, where: TopicPartition, start: int, end: int) -> None:
        records = tuple(seen for seen in self.stored[where][start:end] if seen is not None)
        self.positions[reader, where] = max(start, end)
        at_end = end == len(self.stored[where])
        self.events.append(Poll(process=reader, partition=where, records=records, at_end=at_end))

    def move(self) -> None:
        reader, where = self.dice.choice(["r0", "r1"]), PARTITIONS[0]
        committed = self.offsets.get(where)
        self.positions[reader, where] = committed or 0
        group = Assign(process=reader, partition=where, position=committed, group="g")
        self.events.append(group)


def make(seed: int, steps: int, tagged: bool) -> Log:
    log = Log(random.Random(seed), tagged)
    for _ in range(steps):
        log.step()
    log.finish()
    return log


SEEDS = st.integers(0, 1 << 32)


@given(SEEDS, st.integers(0, 60), st.booleans())
def test_a_correct_log_shows_nothing_wrong(seed: int, steps: int, tagged: bool) -> None:
    assert check(make(seed, steps, tagged).events) == []


@given(SEEDS, SEEDS)
def test_a_record_taken_from_every_reader_is_missed(seed: int, pick: int) -> None:
    events = make(seed, 40, True).events
    sure = [
        event
        for event in events
        if isinstance(event, Produce) and event.transaction is None and event.outcome is Outcome.OK
    ]
    assume(sure)
    victim = sure[pick % len(sure)]
    broken = [_without(event, victim) if isinstance(event, Poll) else event for event in events]
    assert {violation.fault for violation in check(broken)} == {Fault.LOST}


def _without(poll: Poll, victim: Produce) -> Poll:
    kept = tuple(seen for seen in poll.records if seen.value != victim.value)
    return replace(poll, records=kept)


@given(SEEDS, SEEDS)
def test_a_record_that_comes_again_is_found(seed: int, pick: int) -> None:
    events = make(seed, 40, True).events
    final = events[-2]
    assert isinstance(final, Poll)
    assume(final.records)
    again = final.records[pick % len(final.records)]._replace(offset=final.records[-1].offset + 1)
    events[-2] = replace(final, records=(*final.records, again))
    assert Fault.DUPLICATE in {violation.fault for violation in check(events)}
