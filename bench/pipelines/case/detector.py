"""The full detector, climbing a ladder of rates until one does not hold."""

from __future__ import annotations

from bench.pipelines.case.outcome import Outcome
from bench.pipelines.case.steady import Line, Say, line, told
from bench.pipelines.scale import Scale
from bench.pipelines.station import Station
from bench.pipelines.window import Stretch, largest_held

P99_MS = 500.0


def detector(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    """The first rate once a round; the ladder once, and its top in any case."""
    outcome = Outcome()
    with line(station, "detector", scale, say) as running:
        for number in range(rounds):
            warmup = scale.warmup_seconds if number else scale.first_warmup_seconds
            first = _run(running, scale.ladder[0], warmup, outcome, say)
            outcome.add(figures("low", first))
        stretches = {scale.ladder[0]: first}
        _climb(running, scale, stretches, outcome, say)
    outcome.add({"detector.held": float(largest_held(stretches, P99_MS))})
    return outcome


def _climb(
    running: Line, scale: Scale, stretches: dict[int, Stretch], outcome: Outcome, say: Say
) -> None:
    top = scale.ladder[-1]
    for rate in scale.ladder[1:]:
        broken = any(not stretch.holds(rate, P99_MS) for rate, stretch in stretches.items())
        if broken and rate != top:
            say(f"{rate:,}/s is left out: a lower rate did not hold")
            continue
        stretches[rate] = _run(running, rate, scale.warmup_seconds, outcome, say)
    outcome.add(figures("high", stretches[top]))


def _run(running: Line, rate: int, warmup: float, outcome: Outcome, say: Say) -> Stretch:
    stretch, profile = running.run(rate, warmup, running.scale.measured_seconds)
    say(told(rate, stretch))
    outcome.profiles[f"detector, {rate:,}/s"] = profile
    outcome.notes.append(told(rate, stretch))
    return stretch


def figures(which: str, stretch: Stretch) -> dict[str, float]:
    return {
        f"detector.{which}.p50": stretch.p50_ms,
        f"detector.{which}.p99": stretch.p99_ms,
        f"detector.{which}.lag": stretch.lag_late_s - stretch.lag_early_s,
    }
