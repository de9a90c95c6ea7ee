"""What a run of a cluster under fire came to, and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from penstock.testing.history import Assign, Begin, End, Event, Outcome

HEADING = "## A cluster under fire"


@dataclass
class Result:
    target: str
    seed: int
    nodes: int
    seconds: float = 0.0
    healed_s: float = 0.0
    disturbances: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    copied: int = 0
    commits: int = 0
    compared: int = 0
    transactions: Counter[str] = field(default_factory=Counter)
    assignments: int = 0
    violations: list[str] = field(default_factory=list)

    def count(self, events: Iterable[Event]) -> None:
        ends: dict[str, str] = {}
        for event in events:
            if isinstance(event, Begin):
                ends.setdefault(event.transaction, "died before its end")
            elif isinstance(event, End):
                ends[event.transaction] = _ending(event)
            elif isinstance(event, Assign) and event.group is not None:
                self.assignments += 1
        self.transactions = Counter(ends.values())

    def summary(self) -> str:
        verdict = f"{len(self.violations)} violations" if self.violations else "nothing wrong"
        return (
            f"{self.acknowledged} records, {self.copied} copied, {told(self.transactions)}; "
            f"{self.disturbances.total()} disturbances; seed {self.seed}: {verdict}"
        )


def _ending(end: End) -> str:
    if end.outcome is not Outcome.OK:
        return "commit unanswered" if end.commit else "abort unanswered"
    return "committed" if end.commit else "aborted"


def told(counts: Counter[str]) -> str:
    return ", ".join(f"{what} {count}" for what, count in sorted(counts.items())) or "none"
