"""What a run of a cluster under fire came to, and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
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
    lines = [HEADING, "", *ABOUT.splitlines(), "", "### The last long run of clusters", ""]
    return "\n".join([*lines, *(figures(results) or ["None yet."]), ""])


def figures(results: Sequence[Result]) -> list[str]:
    """Of all rounds of a run together, by how many nodes they had."""
    lines: list[str] = []
    for nodes in sorted({result.nodes for result in results}):
        lines += _figures([result for result in results if result.nodes == nodes])
    return lines


def _figures(rounds: Sequence[Result]) -> list[str]:
    def total(of: Callable[[Result], Counter[str]]) -> Counter[str]:
        return sum((of(result) for result in rounds), Counter[str]())

    disturbances = total(lambda result: result.disturbances)
    seeds = ", ".join(str(result.seed) for result in rounds)
    lines = {
        "rounds": f"{len(rounds)}, each with a new cluster; seeds {seeds}",
        "length": f"{sum(result.seconds for result in rounds) / 60:.0f} minutes",
        "disturbances": f"{disturbances.total()}: {told(disturbances)}",
        "from peace to full in-sync sets, at most": f"{max(r.healed_s for r in rounds):.1f} s",
        "records acknowledged in the source": sum(result.acknowledged for result in rounds),
        "records in the copy": sum(result.copied for result in rounds),
        "transactions": told(total(lambda result: result.transactions)),
        "offsets committed by the group without transactions": sum(r.commits for r in rounds),
        "partitions assigned": sum(result.assignments for result in rounds),
        "copiers that ended, not killed": told(total(lambda result: result.endings)),
        "partitions compared byte for byte on all replicas": sum(r.compared for r in rounds),
        "violations": told(total(lambda result: result.faults)),
    }
    title = f"**{rounds[0].target}, {rounds[0].nodes} nodes**"
    return [title, "", *(f"- {name}: {value}" for name, value in lines.items()), ""]


ABOUT = """\
`make chaos` runs clusters of three nodes and of five in turn, for ten minutes each. Each node is a
process. Everything has three replicas, with `min.insync.replicas=2`. An idempotent producer, with
five requests on their way, fills a topic. Copiers read it as a group and write another one in
transactions, with their offsets in the same transaction. A second group commits its offsets by
itself, and readers of both isolation levels follow both topics. Meanwhile leaders, followers, the
active controller and the coordinators of groups and transactions are killed with `kill -9`,
stopped, paused, and cut off from one other node or from all, in both directions or in one, in
silence or with resets: nodes reach each other through a proxy. Up to two of that go on at once. Now
and then the power of all nodes fails: they are killed together, and every log file is cut down to
what had been synced. At the end everything runs again, and:

- every replica is in sync, and no transaction hangs;
- no producer gave up, and no reader was told that its offset does not exist;
- every acknowledged record is there once, in the order of its producer, and once in the copy;
- the [history](testing.md#histories) of all clients shows no lost, vanished, aborted, torn,
  duplicated, skipped or reordered record, and no offset of a group that went back;
- all replicas of all partitions hold the same bytes.

The judges are also shown to notice careless nodes: a leader that acknowledges alone, a follower
that truncates by its high watermark, a coordinator that answers before its replicas have what it
says, and a follower that asks for more before its flush. The same test runs against Apache Kafka
(`python -m tools.chaos --target kafka`).
"""
