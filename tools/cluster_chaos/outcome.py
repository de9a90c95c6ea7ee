"""What a run of a cluster under fire came to, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools.exactly_once.verdict import Verdict, told

HEADING = "## A cluster under fire"


@dataclass(kw_only=True)
class Result(Verdict):
    nodes: int
    healed_s: float = 0.0
    commits: int = 0
    compared: int = 0


def render(results: Sequence[Result]) -> str:
    """Its section of docs/reliability.md."""
    lines = [HEADING, "", *ABOUT.splitlines(), "", "### The last long runs of clusters", ""]
    if not results:
        return "\n".join([*lines, "None yet.", ""])
    for result in results:
        lines += [*_figures(result), ""]
    return "\n".join(lines)


def _figures(result: Result) -> list[str]:
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
        "violations": told(result.faults),
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
