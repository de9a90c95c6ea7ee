"""The full detector, climbing a ladder of rates until one does not hold.

With its states in a topic, in micro-batches and in Spark's real-time mode; and with them in Spark's
own store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bench.pipelines.case.outcome import Outcome
from bench.pipelines.case.steady import Line, Say, line, told
from bench.pipelines.scale import Scale
from bench.pipelines.station import Station
from bench.pipelines.window import Stretch, largest_held

P99_MS = 500.0
STORE_P99_MS = 1_500.0


def detector(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    return _ladder("detector", P99_MS, station, scale, rounds, say)


def realtime(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    return _ladder("realtime", P99_MS, station, scale, rounds, say)


def store(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    warm = replace(scale, first_warmup_seconds=scale.store_warmup_seconds)
    return _ladder("store", STORE_P99_MS, station, warm, rounds, say)


def _ladder(
    kind: str, p99_ms: float, station: Station, scale: Scale, rounds: int, say: Say
) -> Outcome:
    """The first rate once a round; the ladder once, and its top in any case."""
    outcome = Outcome()
    with line(station, kind, scale, say) as running:
        climb = _Climb(kind, p99_ms, running, outcome, say)
        for number in range(rounds):
            warmup = scale.warmup_seconds if number else scale.first_warmup_seconds
            first = climb.run(scale.ladder[0], warmup)
            outcome.add(figures(f"{kind}.low", first))
        stretches = {scale.ladder[0]: first}
        climb.rest(stretches)
    if scale.is_climb:
        outcome.add({f"{kind}.held": float(largest_held(stretches, p99_ms))})
    return outcome


@dataclass(frozen=True)
class _Climb:
    kind: str
    p99_ms: float
    running: Line
    outcome: Outcome
    say: Say

    def rest(self, stretches: dict[int, Stretch]) -> None:
        scale = self.running.scale
        top = scale.ladder[-1]
        for rate in scale.ladder[1:]:
            broken = any(not each.holds(rate, self.p99_ms) for rate, each in stretches.items())
            if broken and rate != top:
                self.say(f"{rate:,}/s is left out: a lower rate did not hold")
                continue
            stretches[rate] = self.run(rate, scale.warmup_seconds)
        if len(scale.ladder) > 1:
            self.outcome.add(figures(f"{self.kind}.high", stretches[top]))

    def run(self, rate: int, warmup: float) -> Stretch:
        stretch, profile = self.running.run(rate, warmup, self.running.scale.measured_seconds)
        self.say(told(rate, stretch))
        self.outcome.profiles[f"{self.kind}, {rate:,}/s"] = profile
        self.outcome.notes.append(told(rate, stretch))
        return stretch


def figures(which: str, stretch: Stretch) -> dict[str, float]:
    return {
        f"{which}.p50": stretch.p50_ms,
        f"{which}.p99": stretch.p99_ms,
        f"{which}.lag": stretch.lag_late_s - stretch.lag_early_s,
    }
