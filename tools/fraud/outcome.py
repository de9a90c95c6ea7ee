"""What a run with kills came to, and its section of the page."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field

from penstock.pipelines.jobs.fraud.accuracy import Accuracy
from penstock.pipelines.jobs.fraud.checker import Report

HEADING = "## One verdict for each payment"
ACCURACY_HEADING = "## Accuracy of the fraud detector"

ABOUT = """\
`make fraud-kill` runs the fraud detector in a process of its own while the generator sends
payments without a pause. Meanwhile `kill -9` hits at random: the whole detector, its driver,
Spark's Java process, its Python workers, the broker, or broker and detector together. Whatever
was killed is started again. At the end the checker (`penstock fraud check`) reads all committed
records back:

- every payment has exactly one verdict, by its id and by its offset in the payments topic;
- there is no verdict without a payment;
- every record that is not a payment has exactly one dead letter, and no verdict;
- the reviews are exactly the flagged verdicts.

The checker is tested with planted faults: a verdict dropped, duplicated, given to another
payment or invented; a review or a dead letter dropped or duplicated.
"""

ABOUT_ACCURACY = """\
The generator knows which payments are theft. It writes that to a topic that the detector does
not read. Thefts vary around the thresholds: amounts that are almost usual, journeys that are
almost possible. Victims are accounts with at least twelve payments. Honest people travel, buy a
new phone, shop in bursts and sometimes spend five times the usual; some of their payments
arrive late. A theft of several payments counts as caught when one of them is flagged: the first
payments of a burst cannot be, because they break no rule yet.
"""


@dataclass
class Result:
    seed: int
    rate: float
    seconds: float = 0.0
    sent: int = 0
    starts: int = 0
    first_verdict_s: float = 0.0
    load: float = 0.0
    """Of the machine, over the last quarter of an hour."""
    disturbances: Counter[str] = field(default_factory=Counter)
    troubles: list[str] = field(default_factory=list)
    report: Report = field(default_factory=Report)

    @property
    def kills(self) -> int:
        return sum(self.disturbances.values())

    @property
    def holds(self) -> bool:
        whole = self.report.payments >= self.sent > 0
        return whole and self.report.holds and not self.troubles

    def violations(self) -> list[str]:
        found = [*self.troubles]
        found += [
            f"{count} {what}, such as {'; '.join(self.report.examples[what])}"
            for what, count in self.report.violations.items()
        ]
        if self.report.payments < self.sent:
            found.append(f"{self.sent - self.report.payments} payments are not in the topic")
        return found


def render(result: Result) -> str:
    report = result.report
    struck = ", ".join(f"{what} {count}" for what, count in sorted(result.disturbances.items()))
    lines = [
        f"{HEADING}\n\n{ABOUT}\n### The last long run of the detector\n",
        f"- seed {result.seed}; {result.rate:,.0f} payments/s for {result.seconds:,.0f} s",
        f"- kill -9: {result.kills} ({struck})",
        f"- starts of the detector: {result.starts}",
        (
            f"- start to first verdict: {result.first_verdict_s:.1f} s; load of the machine"
            f" {result.load:.1f} on {os.cpu_count()} processors"
        ),
        f"- payments sent and acknowledged: {result.sent:,}",
        (
            f"- records that are no payment: {report.undecodable:,}; dead letters:"
            f" {report.dead_letters:,}"
        ),
        f"- verdicts: {report.verdicts:,}; late among them: {report.late:,}",
        f"- flagged: {report.flagged:,}; reviews: {report.reviews:,}",
        f"- violations: {', '.join(result.violations()) or 'none'}",
    ]
    return "\n".join(lines) + "\n"


def render_accuracy(accuracy: Accuracy, seed: int) -> str:
    rows = [
        f"| {each.kind} | {len(each.incidents):,} | {len(each.caught):,} | {each.recall:.1%} |"
        f" {each.payments:,} | {each.flagged:,} |"
        for each in sorted(accuracy.kinds.values(), key=lambda one: one.kind)
    ]
    false = ", ".join(f"{rule} {n}" for rule, n in sorted(accuracy.false_reasons.items())) or "none"
    lines = [
        f"{ACCURACY_HEADING}\n\n{ABOUT_ACCURACY}\n### The last measurement\n",
        (
            f"At the shipped thresholds, seed {seed}: {accuracy.false_positives:,} of"
            f" {accuracy.honest:,} honest payments were flagged,"
            f" {accuracy.false_positive_rate:.4%} (by rule: {false}).\n"
        ),
        "| theft | incidents | caught | recall | payments | flagged |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *rows,
    ]
    return "\n".join(lines) + "\n"
