"""What a run of copiers under fire came to, and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from penstock.testing.history import Assign, Begin, End, Event, Outcome

HEADING = "## Exactly once under fire"


@dataclass
class Result:
    target: str
    seed: int
    fault: str | None
    copiers: int
    seconds: float = 0.0
    disturbances: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    recovery_s: list[float] = field(default_factory=list)
    acknowledged: int = 0
    copied: int = 0
    transactions: Counter[str] = field(default_factory=Counter)
    assignments: int = 0
    violations: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        return sum(count for what, count in self.disturbances.items() if "killed" in what)

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
            f"{self.acknowledged} records, {self.copied} copied, {_told(self.transactions)}; "
            f"{_told(self.disturbances)}; seed {self.seed}: {verdict}"
        )


def _ending(end: End) -> str:
    if end.outcome is not Outcome.OK:
        return "commit unanswered" if end.commit else "abort unanswered"
    return "committed" if end.commit else "aborted"


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{what} {count}" for what, count in sorted(counts.items())) or "none"


def render(result: Result | None) -> str:
    """Its section of docs/reliability.md."""
    lines = [HEADING, "", *ABOUT.splitlines(), "", "### The last long run of copiers", ""]
    figures = ["None yet."] if result is None else _figures(result)
    return "\n".join([*lines, *figures, ""])


def _figures(result: Result) -> list[str]:
    recovery = sorted(result.recovery_s) or [0.0]
    wrong = Counter(violation.partition(":")[0] for violation in result.violations)
    figures = {
        "target": f"{result.target}; seed {result.seed}",
        "length": f"{result.seconds:.0f} s with {result.copiers} copiers",
        "disturbances": _told(result.disturbances),
        "restart of the broker to first answer": (
            f"median {median(recovery):.2f} s, longest {recovery[-1]:.2f} s"
        ),
        "records acknowledged in the source": result.acknowledged,
        "records in the copy": result.copied,
        "transactions": _told(result.transactions),
        "partitions assigned": result.assignments,
        "copiers that ended, not killed": _told(result.endings),
        "violations": _told(wrong),
    }
    return [f"- {name}: {value}" for name, value in figures.items()]


ABOUT = """\
`make eos` runs several copiers. They read one topic as a group and write each record to
another, with their offsets in the same transaction. Meanwhile copiers and the broker are killed
with `kill -9` at random moments and started again. Other copiers are paused for longer than the
session timeout, and half of those are replaced meanwhile, so that they wake up as zombies. At
the end:

- a `read_committed` reader finds every record of the source once in the copy, in the same order
  in each partition;
- no transaction hangs;
- the [history](testing.md#histories) of all producers, copiers and readers shows no lost,
  aborted, torn, duplicated, skipped or reordered record, and no stale offset.

The check is also shown to fail: with copiers that are not fenced (a transactional id for each
process, offsets without the group's generation), and with offsets committed outside the
transaction. The same test runs against Apache Kafka (`python -m tools.eos --target kafka`).
"""
