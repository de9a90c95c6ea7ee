"""What a run of copiers under fire came to, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from tools.exactly_once.verdict import Verdict, told

HEADING = "## Exactly once under fire"


@dataclass(kw_only=True)
class Result(Verdict):
    fault: str | None
    copiers: int
    recovery_s: list[float] = field(default_factory=list)


def render(result: Result | None) -> str:
    """Its section of docs/reliability.md."""
    lines = [HEADING, "", *ABOUT.splitlines(), "", "### The last long run of copiers", ""]
    figures = ["None yet."] if result is None else _figures(result)
    return "\n".join([*lines, *figures, ""])


def _figures(result: Result) -> list[str]:
    recovery = sorted(result.recovery_s) or [0.0]
    figures = {
        "target": f"{result.target}; seed {result.seed}",
        "length": f"{result.seconds:.0f} s with {result.copiers} copiers",
        "disturbances": told(result.disturbances),
        "restart of the broker to first answer": (
            f"median {median(recovery):.2f} s, longest {recovery[-1]:.2f} s"
        ),
        "records acknowledged in the source": result.acknowledged,
        "records in the copy": result.copied,
        "transactions": told(result.transactions),
        "partitions assigned": result.assignments,
        "copiers that ended, not killed": told(result.endings),
        "violations": told(result.faults),
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
