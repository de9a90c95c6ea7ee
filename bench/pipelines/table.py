"""The table of the pipelines' figures: a row for each, a column for each broker they run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.metric import Metric
from bench.peer import KAFKA, PENSTOCK, PENSTOCK_FSYNC
from bench.report import Row, quantity

BROKERS = {
    KAFKA: "Apache Kafka",
    PENSTOCK_FSYNC: "Penstock",
    PENSTOCK: "Penstock, no flush",
}
OURS = (PENSTOCK_FSYNC, PENSTOCK)


@dataclass(frozen=True)
class Figures:
    """One metric on every broker that it was measured on."""

    metric: Metric
    values: Mapping[str, float]

    def beside_kafka(self, broker: str) -> Row:
        return Row(self.metric, broker, self.values.get(KAFKA), self.values.get(broker))

    @property
    def missed(self) -> list[str]:
        return [each for each in OURS if self.beside_kafka(each).is_met is False]

    @property
    def has_verdict(self) -> bool:
        return any(self.beside_kafka(each).is_met is not None for each in OURS)

    @property
    def verdict(self) -> str:
        if not self.has_verdict:
            return ""
        missed = self.missed
        if not missed:
            return "met"
        judged = [each for each in OURS if self.beside_kafka(each).is_met is not None]
        return "**missed**" + ("" if missed == judged else f" ({BROKERS[missed[0]]})")


def table(figures: Sequence[Figures]) -> list[str]:
    columns = [
        f"{name} | ratio" if broker in OURS else name
        for broker, name in BROKERS.items()
        if _is_there(figures, broker)
    ]
    head = f"| work | {' | '.join(columns)} | bar | |"
    numbers = " ---: |" * (head.count("|") - 4)
    return [head, f"| --- |{numbers} --- | --- |", *(_line(each, figures) for each in figures)]


def bars(figures: Sequence[Figures]) -> list[str]:
    """How many are met: on each of our brokers that was measured."""
    lines = []
    for broker in OURS:
        rows = [each.beside_kafka(broker) for each in figures]
        judged = [row for row in rows if row.is_met is not None]
        missed = [row.metric.title for row in judged if not row.is_met]
        if judged:
            line = f"{BROKERS[broker]}: {len(judged) - len(missed)} of {len(judged)} bars met."
            lines += [line + (f" Missed: {'; '.join(missed)}." if missed else ""), ""]
    return lines[:-1]


def _is_there(figures: Sequence[Figures], broker: str) -> bool:
    return any(broker in each.values for each in figures)


def _line(one: Figures, everything: Sequence[Figures]) -> str:
    unit = one.metric.unit
    cells = [one.metric.title]
    for broker in BROKERS:
        if _is_there(everything, broker):
            cells.append(quantity(one.values.get(broker), unit))
            if broker in OURS:
                cells.append(one.beside_kafka(broker).ratio_text)
    bar = one.metric.bars.get(PENSTOCK)
    cells += [bar.text(unit) if bar else "", one.verdict]
    return "| " + " | ".join(cells) + " |"
