"""Turns outcomes into the pipelines' part of docs/benchmarks.md, and JSON. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any

from bench.metric import Metric
from bench.pipelines.case.outcome import Outcome, Profile
from bench.pipelines.metric import METRICS
from bench.pipelines.scale import Scale
from bench.pipelines.table import BROKERS, Figures, bars, table


@dataclass(frozen=True)
class Origin:
    """How a workload was measured on one broker: on a page put together each may have its own."""

    scale: Scale
    penstock: str


@dataclass
class Results:
    """Outcomes by workload and broker."""

    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    origins: dict[str, dict[str, Origin]] = field(default_factory=dict)

    def figure(self, key: str, broker: str) -> float | None:
        for outcomes in self.outcomes.values():
            values = outcomes[broker].values.get(key) if broker in outcomes else None
            if values:
                return median(values)
        return None

    def scale_of(self, key: str) -> Scale | None:
        for workload, outcomes in self.outcomes.items():
            for broker, outcome in outcomes.items():
                origin = self.origins.get(workload, {}).get(broker)
                if origin is not None and key in outcome.values:
                    return origin.scale
        return None

    def came_from(self, workload: str, broker: str, origin: Origin) -> None:
        self.origins.setdefault(workload, {})[broker] = origin


def figures(results: Results, scale: Scale) -> Iterator[Figures]:
    for metric in METRICS:
        found = {broker: results.figure(metric.key, broker) for broker in BROKERS}
        values = {broker: value for broker, value in found.items() if value is not None}
        if values:
            yield Figures(_named(metric, results.scale_of(metric.key) or scale), values)


def _named(metric: Metric, scale: Scale) -> Metric:
    title = metric.title.format(
        stateless=scale.stateless_rate,
        low=scale.ladder[0],
        high=scale.ladder[-1],
        megabytes=scale.read_megabytes,
        accounts=scale.accounts,
    )
    return replace(metric, title=title)


def as_json(
    results: Results, scale: Scale, machine: Mapping[str, str], how: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "machine": dict(machine),
        "run": dict(how),
        "scale": asdict(scale),
        "outcomes": {
            workload: {broker: asdict(outcome) for broker, outcome in outcomes.items()}
            for workload, outcomes in results.outcomes.items()
        },
        "failures": results.failures,
        "origins": {
            workload: {broker: asdict(origin) for broker, origin in by_broker.items()}
            for workload, by_broker in results.origins.items()
        },
    }


def from_json(document: Mapping[str, Any]) -> Results:
    """The results of an earlier run, as `as_json` has told them."""
    outcomes = {
        workload: {broker: _outcome(told) for broker, told in by_broker.items()}
        for workload, by_broker in document["outcomes"].items()
    }
    origins = {
        workload: {
            broker: Origin(_scale(each["scale"]), each["penstock"])
            for broker, each in by_broker.items()
        }
        for workload, by_broker in document["origins"].items()
    }
    return Results(outcomes, list(document["failures"]), origins)


def _outcome(told: Mapping[str, Any]) -> Outcome:
    profiles = {name: Profile(**each) for name, each in told["profiles"].items()}
    return Outcome(told["values"], profiles, told["notes"])


def _scale(told: Mapping[str, Any]) -> Scale:
    return Scale(**{**told, "ladder": tuple(told["ladder"])})


def as_section(
    results: Results, scale: Scale, machine: Mapping[str, str], how: Mapping[str, Any]
) -> str:
    lines = ["## Pipelines", "", *_INTRODUCTION.format(**how, **asdict(scale)).splitlines(), ""]
    lines += [f"- {name}: {value}" for name, value in machine.items()]
    lines += _earlier(results, machine, scale)
    found = list(figures(results, scale))
    if found:
        lines += ["", "### What was measured", "", *table(found), "", *bars(found)]
    lines += _profiles(results)
    lines += _told(results)
    if results.failures:
        lines += ["", "### Could not be measured", ""]
        lines += [f"- {failure.splitlines()[0]}" for failure in results.failures]
    return "\n".join(lines) + "\n"


def _earlier(results: Results, machine: Mapping[str, str], scale: Scale) -> list[str]:
    lines = []
    for workload, outcomes in results.outcomes.items():
        for broker in outcomes:
            origin = results.origins.get(workload, {}).get(broker)
            told = [] if origin is None else _differences(origin, machine, scale)
            if told:
                where = f"{workload} on {BROKERS[broker]}"
                lines.append(f"- {where} is of a run of its own: {', '.join(told)}")
    return lines


def _differences(origin: Origin, machine: Mapping[str, str], scale: Scale) -> list[str]:
    told = [] if origin.penstock == machine["Penstock"] else [f"Penstock {origin.penstock}"]
    if origin.scale.measured_seconds != scale.measured_seconds:
        told.append(f"{origin.scale.measured_seconds:.0f} s measured")
    return told


def _profiles(results: Results) -> list[str]:
    found = [
        (name, broker, profile)
        for outcomes in results.outcomes.values()
        for broker, outcome in outcomes.items()
        for name, profile in outcome.profiles.items()
    ]
    if not found:
        return []
    roles = list(dict.fromkeys(role for _, _, profile in found for role in profile.cores))
    lines = ["", "### Where the time goes", "", "Cores busy on average while measured:", ""]
    lines.append("| work | broker is | " + " | ".join(roles) + " | all |")
    lines.append("| --- | --- |" + " ---: |" * (len(roles) + 1))
    for name, broker, profile in found:
        used = [profile.cores.get(role) for role in roles]
        cells = ["-" if one is None else f"{one:.2f}" for one in used]
        total = sum(profile.cores.values())
        lines.append(f"| {name} | {BROKERS[broker]} | {' | '.join(cells)} | {total:.2f} |")
    return lines + _batches(found)


def _batches(found: list[tuple[str, str, Profile]]) -> list[str]:
    lines = ["", "Medians of Spark's micro-batches meanwhile (`durationMs` of its progress):", ""]
    for name, broker, profile in found:
        for query in profile.queries:
            if not query["batches"]:
                continue
            parts = sorted(query["median_ms"].items(), key=lambda part: -part[1])
            shown = ", ".join(f"{part} {took:.0f} ms" for part, took in parts if took >= 1)
            rows_each = query["rows"] / query["batches"]
            lines.append(
                f"- {name}, {BROKERS[broker]}: {query['batches']} batches of {rows_each:,.0f} rows,"
                f" longest {query['longest_ms']:.0f} ms: {shown}"
            )
    return lines


def _told(results: Results) -> list[str]:
    told = [
        f"- {BROKERS[broker]}, {workload}: {note}"
        for workload, outcomes in results.outcomes.items()
        for broker, outcome in outcomes.items()
        for note in outcome.notes
    ]
    return ["", "### Every rate that was tried", "", *told] if told else []


_INTRODUCTION = """Written by `make bench-pipelines`. Spark (`local[*]`), the broker, the load and
the measuring consumer share this machine. For each piece of work one broker runs, fresh, one after
the other, with the same Spark settings: Penstock as it is by default, with a flush to disk before
every acknowledgement; Penstock with flushing left to the operating system, as Apache Kafka has it;
and Apache Kafka. Payments and verdicts have two partitions, other topics four. Figures are the
median of the rounds (here {rounds}).

Latency is from the moment a payment is handed to the producer until a `read_committed` consumer in
a process of its own has its verdict, by the clock of this machine.
That consumer counts every verdict and takes the latency of every seventh; it lets the broker
gather answers for up to 5 ms, which is part of the latency. After the first verdicts
{first_warmup_seconds:.0f} s of payments are warm-up ({store_warmup_seconds:.0f} s where Spark's own
store has the states), {warmup_seconds:.0f} s before each later rate; they are left out. Then
{measured_seconds:.0f} s are measured ({stateless_seconds:.0f} s of the stateless verdicts, which is
one batch of Spark's real-time mode). Lag is payments sent less verdicts seen; it grows when its
median in the last quarter is more than half a second of payments above that in the first. The
payments are those of `penstock fraud generate` (10,000 accounts), without the undecodable ones,
drawn beforehand: while it is measured, the load only sends.

The copies read the same filled topic to its end (`availableNow`). The batch job counts the
records of a topic and sums their lengths. Start to first verdict is that of
`penstock pipeline run fraud`: once with no archive of Spark's classes, as after an installation,
and again with the one that the first start has left. A new start with many accounts is timed from
the moment Spark's session is up."""
