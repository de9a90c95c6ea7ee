"""Turns results into docs/benchmarks.md and bench/results/latest.json. It measures nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.metric import METRICS, Metric
from bench.peer import KAFKA, PENSTOCK, PENSTOCK_FSYNC, PENSTOCK_UNREAD
from bench.schedule import Results

TITLES = {
    PENSTOCK: "Flush left to the operating system, as in Kafka",
    PENSTOCK_FSYNC: "Penstock with fsync before every ack (its default), Kafka without",
}

_INTRODUCTION = """# Benchmarks

Written by `make bench`, which starts Apache Kafka and Penstock side by side on this machine, lets
them take turns at each piece of work ({rounds} rounds) and takes the median. The clients are the
same for both and run in processes of their own: librdkafka through its batch calls, Kafka's Java
producer through `kafka-producer-perf-test`, Kafka's Java consumer with its partitions assigned.
Produce uses acks=all and three partitions. Memory is resident memory; under load it is the highest
of all rounds. CPU per request is the node's processor time over single small Produce, Fetch and
Metadata requests that name one partition.

Members of groups are simulated by requests of the protocol from one process: each has a connection
of its own. Commits are single ones, five in flight a group. In the large group everybody sends a
heartbeat as soon as one joins or leaves, so that no heartbeat interval is part of the time. The
coordinator starts with the whole process, and is ready when every group has its last offset back.
The commit of a transaction is timed after its records are acknowledged and its offsets sent."""


@dataclass(frozen=True)
class Sheet:
    """What a page is about; it may speak of `rounds` in its introduction."""

    introduction: str
    titles: Mapping[str, str]
    """One table for each of these peers."""
    metrics: Sequence[Metric]


ONE_NODE = Sheet(_INTRODUCTION, TITLES, METRICS)

CHECKS_TITLE = "What it costs to read the records of a batch"
CHECKS_INTRODUCTION = """A leader reads the records of uncompressed batches before it takes them
(`penstock.record.check`, docs/decisions/0009-record-checks.md). The same node with topics that have
this switched off, in turns with the default, flush left to the operating system:"""
CHECKS_RATIO_MIN = 0.95


@dataclass(frozen=True)
class Row:
    metric: Metric
    peer: str
    kafka: float | None
    value: float | None
    spread: tuple[float, float] | None = None
    """The lowest and the highest ratio of a round."""

    @property
    def ratio(self) -> float | None:
        return self.value / self.kafka if self.value is not None and self.kafka else None

    @property
    def is_met(self) -> bool | None:
        bar = self.metric.bars.get(self.peer)
        if bar is None or self.value is None:
            return None
        return bar.is_met(self.value, self.kafka)

    @property
    def ratio_text(self) -> str:
        if self.ratio is None:
            return ""
        low, high = self.spread or (self.ratio, self.ratio)
        return f"{self.ratio:.2f}" + (f" ({low:.2f}-{high:.2f})" if low != high else "")

    @property
    def verdict(self) -> str:
        return {True: "met", False: "**missed**", None: ""}[self.is_met]


def rows(results: Results, metrics: Sequence[Metric] = METRICS) -> Iterator[Row]:
    for peer in (PENSTOCK, PENSTOCK_FSYNC):
        for metric in metrics:
            value = results.figure(metric, peer)
            if value is not None or (peer in metric.bars and metric.key in results.values):
                kafka = results.figure(metric, KAFKA)
                yield Row(metric, peer, kafka, value, _spread(results, metric, peer))


def _spread(results: Results, metric: Metric, peer: str) -> tuple[float, float] | None:
    values = results.values.get(metric.key, {})
    if metric.is_peak:
        return None
    rounds = zip(values.get(peer, ()), values.get(KAFKA, ()), strict=False)
    ratios = [value / kafka for value, kafka in rounds if kafka]
    return (min(ratios), max(ratios)) if ratios else None


def keep(
    results: Results, earlier: Mapping[str, Any], measured: Collection[str]
) -> list[dict[str, Any]]:
    """Take over what only earlier runs measured; says of each of them what that is."""
    for metric, values in earlier["values"].items():
        results.values.setdefault(metric, values)
    run = {key: earlier["run"][key] for key in ("only", "rounds")}
    run["penstock"] = earlier["machine"]["Penstock"]
    seen, kept = set(measured), []
    for source in (run, *earlier["run"].get("kept", ())):
        groups = [group for group in source["only"].split(",") if group not in seen]
        seen.update(groups)
        if groups:
            kept.append(source | {"only": ",".join(groups)})
    return kept


def as_json(
    results: Results,
    machine: Mapping[str, str],
    how: Mapping[str, Any],
    metrics: Sequence[Metric] = METRICS,
) -> dict[str, Any]:
    return {
        "machine": dict(machine),
        "run": dict(how),
        "rows": [
            {
                "metric": row.metric.key,
                "unit": row.metric.unit,
                "peer": row.peer,
                "kafka": row.kafka,
                "value": row.value,
                "ratio": row.ratio,
                "met": row.is_met,
            }
            for row in rows(results, metrics)
        ],
        "values": results.values,
        "failures": results.failures,
    }


def as_page(
    results: Results,
    machine: Mapping[str, str],
    how: Mapping[str, Any],
    sheet: Sheet = ONE_NODE,
) -> str:
    lines = [*sheet.introduction.format(**how).splitlines(), ""]
    lines += [f"- {name}: {value}" for name, value in machine.items()]
    for run in how.get("kept", ()):
        groups = run["only"].replace(",", ", ")
        source = f"{run['rounds']} rounds of Penstock {run['penstock']}"
        lines.append(f"- from an earlier run on the same kind of machine: {groups}: {source}")
    everything = list(rows(results, sheet.metrics))
    for peer, title in sheet.titles.items():
        mine = [row for row in everything if row.peer == peer]
        if mine:
            lines += ["", f"## {title}", "", *table(mine)]
    lines += checks(results)
    bars = [row for row in everything if row.is_met is not None]
    missed = [row for row in bars if not row.is_met]
    lines += ["", f"{len(bars) - len(missed)} of {len(bars)} bars met."]
    lines += [f"Missed: {row.metric.title} ({sheet.titles[row.peer]})." for row in missed]
    if results.failures:
        lines += ["", "## Could not be measured", ""]
        lines += [f"- {failure.splitlines()[0]}" for failure in results.failures]
    return "\n".join(lines) + "\n"


def checks(results: Results) -> list[str]:
    """A section of its own: here Penstock is held against itself."""
    head = [
        "| work | not read | read | ratio | bar | |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    lines: list[str] = []
    for metric in METRICS:
        without = results.figure(metric, PENSTOCK_UNREAD)
        value = results.figure(metric, PENSTOCK)
        if not without or value is None or metric.is_peak:
            continue
        verdict = "met" if value / without >= CHECKS_RATIO_MIN else "**missed**"
        figures = [quantity(one, metric.unit) for one in (without, value)]
        bar = f"at least {CHECKS_RATIO_MIN} ×"
        cells = [metric.title, *figures, f"{value / without:.2f}", bar, verdict]
        lines.append("| " + " | ".join(cells) + " |")
    if not lines:
        return []
    return ["", f"## {CHECKS_TITLE}", "", *CHECKS_INTRODUCTION.splitlines(), "", *head, *lines]


def table(mine: list[Row]) -> list[str]:
    lines = [
        "| work | Apache Kafka | Penstock | ratio | bar | |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    for row in mine:
        unit = row.metric.unit
        bar = row.metric.bars.get(row.peer)
        cells = [
            row.metric.title,
            quantity(row.kafka, unit),
            quantity(row.value, unit),
            row.ratio_text,
            bar.text(unit) if bar else "",
            row.verdict,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def quantity(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{number} {unit}"
