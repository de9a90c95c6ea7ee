"""Stateless verdicts in Spark's real-time mode: from produce to verdict."""

from __future__ import annotations

from bench.pipelines.case.outcome import Outcome
from bench.pipelines.case.steady import Say, line, told
from bench.pipelines.scale import Scale
from bench.pipelines.station import Station
from bench.pipelines.window import RATE_TOLERATED


def stateless(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    outcome = Outcome()
    with line(station, "stateless", scale, say) as running:
        for number in range(rounds):
            warmup = scale.warmup_seconds if number else scale.first_warmup_seconds
            stretch, profile = running.run(scale.stateless_rate, warmup, scale.stateless_seconds)
            say(told(scale.stateless_rate, stretch))
            outcome.add(
                {
                    "stateless.p50": stretch.p50_ms,
                    "stateless.p99": stretch.p99_ms,
                    "stateless.lag": stretch.lag_late_s - stretch.lag_early_s,
                }
            )
            outcome.profiles[f"stateless, {scale.stateless_rate:,}/s"] = profile
            if stretch.rate < RATE_TOLERATED * scale.stateless_rate:
                outcome.notes.append(f"the generator only reached {stretch.rate:,.0f}/s")
    return outcome
