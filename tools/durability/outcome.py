"""What a crash test found, and how it is told."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import median

from tools.durability.checker import Violation
from tools.durability.ledger import Ledger
from tools.durability.topic import LoadedTopic

HEADING = "## Killed under load"


@dataclass
class Outcome:
    target: str
    seed: int
    topics: tuple[LoadedTopic, ...]
    ledger: Ledger
    # By what the broker was doing.
    kills: Counter[str] = field(default_factory=Counter)
    recovery_s: list[float] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)
    churned: Counter[str] = field(default_factory=Counter)
    directories_judged: int = 0
    # Topics whose cleanup never began, so that no kill can have met it.
    uncleaned: list[str] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)

    def summary(self) -> str:
        acknowledged = sum(self.ledger.acknowledged_count(topic.name) for topic in self.topics)
        recovery = f"{median(self.recovery_s):.2f}" if self.recovery_s else "-"
        verdict = f"{len(self.violations)} violations" if self.violations else "nothing wrong"
        return (
            f"{self.kills.total()} kills ({_by_moment(self.kills)}), "
            f"{acknowledged} records acknowledged, median restart {recovery} s, "
            f"seed {self.seed}: {verdict}"
        )

    def count(self, topic: str, *kinds: str) -> int:
        return sum(
            1
            for violation in self.violations
            if violation.kind in kinds and violation.where.startswith(f"{topic}-")
        )


def _by_moment(kills: Counter[str]) -> str:
    return ", ".join(f"{count} while {moment}" for moment, count in kills.most_common())


def render(outcome: Outcome) -> str:
    """Its section of docs/reliability.md."""
    lines = [HEADING, "", *ABOUT.splitlines(), "", "### The last long run of kills", ""]
    lines += _figures(outcome)
    lines += ["", *_table(outcome), ""]
    if outcome.violations:
        lines += ["### What was wrong", ""]
        lines += [f"- {violation}" for violation in outcome.violations[:50]]
        lines.append("")
    return "\n".join(lines)


def _figures(outcome: Outcome) -> list[str]:
    recovery = sorted(outcome.recovery_s) or [0.0]
    failures = ", ".join(f"{name} {count}" for name, count in outcome.ledger.failures.items())
    wrong = Counter(violation.kind for violation in outcome.violations)
    figures = {
        "target": f"{outcome.target}; seed {outcome.seed}",
        "kill -9 under load": f"{outcome.kills.total()} ({_by_moment(outcome.kills)})",
        "restart to first answer": f"median {median(recovery):.2f} s, longest {recovery[-1]:.2f} s",
        "topic creations acknowledged meanwhile": outcome.churned["created"],
        "topic deletions acknowledged meanwhile": outcome.churned["deleted"],
        "topics wrong afterwards": wrong["topic"],
        "partition directories judged by DumpLogSegments": outcome.directories_judged,
        "complaints of DumpLogSegments": wrong["index"],
        "topics whose cleanup never began": ", ".join(outcome.uncleaned) or "none",
        "producers that gave up": wrong["fatal"],
        "sends that failed at the client, none of them acknowledged": failures or "none",
    }
    return [f"- {name}: {value}" for name, value in figures.items()]


def _table(outcome: Outcome) -> list[str]:
    head = ["topic", "sent", "acknowledged", "in the log", "lost", "duplicated", "reordered"]
    rows = [head, ["---"] + ["---:"] * 6]
    for topic in outcome.topics:
        rows.append(
            [
                f"{topic.name} ({topic.purpose})",
                str(outcome.ledger.sent_count(topic.name)),
                str(outcome.ledger.acknowledged_count(topic.name)),
                str(outcome.found[topic.name]),
                str(outcome.count(topic.name, "lost", "misplaced", "gap", "foreign")),
                str(outcome.count(topic.name, "duplicated")),
                str(outcome.count(topic.name, "reordered")),
            ]
        )
    return ["| " + " | ".join(row) + " |" for row in rows]


ABOUT = """\
`make crash` loads a node with two kinds of producers: idempotent ones on librdkafka, which keep
many records in flight and retry by themselves, and ones on plain sockets, which send one record
at a time and never retry. Meanwhile topics are created and deleted. The node is killed with
`kill -9` at random moments, also while it starts or stops, and is started again on the same
directory. At the end all records are read back and compared with what was acknowledged:

- every acknowledged record is there once, at the acknowledged offset;
- a record that was not acknowledged is there once or not at all;
- the records of each producer are in the order in which they were sent, byte for byte;
- offsets have no gaps, except after compaction;
- topics whose creation or deletion was acknowledged exist, or do not;
- a clean stop and another start change none of this;
- Apache Kafka's `DumpLogSegments` finds nothing wrong in the logs and indexes.

The checker itself is tested with planted faults: a record removed, duplicated, moved, changed
or reordered. The same test runs against Apache Kafka (`python -m tools.crash --target kafka`),
to show that its expectations are fair.
"""
