"""What a run of a cluster under fire came to, and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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


def render(results: Sequence[Result]) -> str:
    """Its section of docs/reliability.md."""
    lines = [HEADING, "", *ABOUT.splitlines(), "", "### The last long runs of clusters", ""]
    if not results:
        return "\n".join([*lines, "None yet.", ""])
    for result in results:
        lines += [*_figures(result), ""]
    return "\n".join(lines)


def _figures(result: Result) -> list[str]:
    wrong = Counter(violation.partition(":")[0] for violation in result.violations)
    figures = {
        "target": f"{result.target}, {result.nodes} nodes; seed {result.seed}",
        "length": f"{result.seconds:.0f} s",
        "disturbances": f"{result.disturbances.total()}: {told(result.disturbances)}",
        "from peace to full in-sync sets": f"{result.healed_s:.1f} s",
        "records acknowledged in the source": result.acknowledged,
        "records in the copy": result.copied,
        "transactions": told(result.transactions),
        "offsets committed by the group without transactions": result.commits,
        "partitions assigned": result.assignments,
        "copiers that ended, not killed": told(result.endings),
        "partitions compared byte for byte on all replicas": result.compared,
        "violations": told(wrong),
    }
    return [f"- {name}: {value}" for name, value in figures.items()]


ABOUT = """\
`make chaos` runs three nodes, then five, each a process, with three replicas of everything and
`min.insync.replicas=2`. An idempotent producer fills a topic. Copiers read it as a group and write
another one in transactions, with their offsets in the same transaction. A second group commits its
offsets by itself, and readers of both isolation levels follow both topics. Meanwhile leaders,
followers, the active controller and the coordinators of groups and transactions are killed with
`kill -9`, stopped, paused, and cut off from one other node or from all, in both directions or in
one, in silence or with resets: nodes reach each other through a proxy. Up to two of that go on at
once. Now and then the power of all nodes fails: they are killed together, and every log file is cut
down to what had been synced. At the end everything runs again, and:

- every replica is in sync, and no transaction hangs;
- every acknowledged record is there once, in the order of its producer, and once in the copy;
- the [history](testing.md#histories) of all clients shows no lost, vanished, aborted, torn,
  duplicated, skipped or reordered record, and no offset of a group that went back;
- all replicas of all partitions hold the same bytes.

The judges are also shown to notice careless nodes: a leader that acknowledges alone, a follower
that truncates by its high watermark, a coordinator that answers before its replicas have what it
says, and a follower that asks for more before its flush. The same test runs against Apache Kafka
(`python -m tools.chaos --target kafka`).
"""
