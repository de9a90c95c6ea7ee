"""What clients did and saw, as events: the words in which a history is told.

Values tell records apart, so each is written once, or once per transaction that tries. An event
that is asked for is noted as UNKNOWN before the asking and again with the answer; the later note
counts. Then a process that dies in between leaves a true history.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from penstock.model.id import TopicPartition


class Outcome(Enum):
    OK = "ok"
    FAILED = "failed"
    """It certainly did not happen. Whoever cannot be sure says UNKNOWN."""
    UNKNOWN = "unknown"


class Seen(NamedTuple):
    """A record that a poll returned. `transaction` may say which one wrote it, if the record
    carries that, say in a header: without it two tries of the same value look alike."""

    offset: int
    value: str
    transaction: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    process: str
    """One run of one client: what is started again is another process."""
    began_s: float = 0.0
    ended_s: float = 0.0
    """By one clock for all processes. Histories without times are taken in their given order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Produce(Event):
    partition: TopicPartition
    value: str
    outcome: Outcome
    offset: int | None = None
    transaction: str | None = None
    """None outside of transactions; the names of transactions are never used twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin(Event):
    transaction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class End(Event):
    """A transaction without any was never asked to commit, so nothing of it may be seen."""

    transaction: str
    commit: bool
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign(Event):
    """A consumer starts to read a partition, or is moved within it. With a group, the position is
    what the group had committed, and None if it had nothing."""

    partition: TopicPartition
    position: int | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll(Event):
    partition: TopicPartition
    records: tuple[Seen, ...]
    committed_only: bool = True
    """The isolation level of the consumer."""
    at_end: bool = False
    """Whether the consumer then stood at the end of the partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit(Event):
    """Offsets of a group; inside a transaction its end decides on them."""

    group: str
    partition: TopicPartition
    offset: int
    outcome: Outcome
    transaction: str | None = None
