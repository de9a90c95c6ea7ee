"""Payments at a steady rate through a running pipeline: warm up, measure, drain, sum up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from bench.load.child import LoadFailedError
from bench.pipelines.case.fill import ACCOUNTS
from bench.pipelines.case.outcome import Profile
from bench.pipelines.child import Child, python_child
from bench.pipelines.scale import Scale
from bench.pipelines.station import Station
from bench.pipelines.usage import Usage, cores, look
from bench.pipelines.window import Stretch, Window, summarise
from penstock.pipelines.jobs.fraud.model import PAYMENTS, VERDICTS

# Real-time mode runs a task per partition, all at once: no more of them than cores.
PARTITIONS = 2
# At the highest rate some 5,000 latencies a second are plenty.
SAMPLE_EVERY = 7
BACKLOG_S = 60.0
# Real-time mode: with thousands of payments a second Spark hands them over so many at once. It
# holds that many of each partition back until another one has come.
ROWS_AT_ONCE = {"realtime": 50}
# Until a fresh pipeline has given its first verdict: Spark starts, plans and compiles.
FIRST_VERDICT_S = 600.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Line:
    """Generator, pipeline and meter around one broker, all up."""

    station: Station
    spark: Child
    generator: Child
    meter: Child
    scale: Scale
    held_back: int = 0
    """So many payments may wait for the next ones to come, however long that takes."""

    def run(self, rate: int, warmup_s: float, seconds: float) -> tuple[Stretch, Profile]:
        """One rate; it ends when all verdicts are there or the time to drain is over."""
        # What an earlier rate left behind is not this one's.
        self.drain(self.generator.ask("sent")["sent"], BACKLOG_S)
        # Behind what is measured come those that push the last of it through.
        sending_s = warmup_s + seconds + 2 * self.held_back / rate
        order = {"rate": rate, "seconds": sending_s}
        self.generator.ask("draw", {"count": int(rate * sending_s)}, timeout_s=180)
        began = float(self.generator.ask("go", order)["at"])
        window = Window(began + warmup_s, began + warmup_s + seconds)
        time.sleep(max(0.0, window.began - time.time()))
        self.spark.ask("mark")
        before, looked = self._look(), time.time()
        time.sleep(max(0.0, window.ended - time.time()))
        used = cores(before, self._look(), time.time() - looked)
        queries = self.spark.ask("durations")["queries"]
        load = self.generator.ask("result")
        if load["failures"]:
            raise LoadFailedError(f"{load['failures']} payments were not delivered")
        self.drain(load["sent"])
        seen = self.meter.ask("samples")
        stretch = summarise(seen["samples"], load["handed"], seen["counts"], window, SAMPLE_EVERY)
        return stretch, Profile(used, queries)

    def first_verdict(self) -> None:
        """A trickle, so that what is measured later does not begin with the start."""
        self.generator.ask("go", {"rate": 100, "seconds": 2 + 2 * self.held_back / 100})
        sent = self.generator.ask("result")["sent"]
        if self.drain(sent, FIRST_VERDICT_S):
            raise LoadFailedError(f"not all of {sent} verdicts within {FIRST_VERDICT_S:.0f} s")
        self.meter.ask("samples")

    def drain(self, sent: int, timeout_s: float | None = None) -> int:
        """Wait for the verdicts of what was sent, all but those held back; how many are missing."""
        deadline = time.monotonic() + (timeout_s or self.scale.drain_seconds)
        while (seen := int(self.meter.ask("count")["count"])) < sent - self.held_back:
            # Its queries may have failed; then it says so.
            self.spark.ask("check")
            if time.monotonic() > deadline:
                return sent - seen
            time.sleep(0.3)
        return 0

    def _look(self) -> Usage:
        others = {
            "broker": self.station.peer.broker.pid,
            "generator": self.generator.pid,
            "measuring consumer": self.meter.pid,
        }
        return look(self.spark.pid, others)


@contextmanager
def line(
    station: Station, kind: str, scale: Scale, say: Say, *, accounts: int = ACCOUNTS
) -> Iterator[Line]:
    station.create({PAYMENTS: PARTITIONS, VERDICTS: PARTITIONS})
    where = {"bootstrap": station.bootstrap, "partitions": PARTITIONS}
    with ExitStack() as stack:

        def child(module: str, **spec: Any) -> Child:
            return stack.enter_context(python_child(module, where | spec, station.folder))

        rows_at_once = ROWS_AT_ONCE.get(kind, 0)
        spark = child("stream", kind=kind, folder=str(station.folder), rows_at_once=rows_at_once)
        generator = child("generate", topic=PAYMENTS, accounts=accounts)
        meter = child("meter", topic=VERDICTS, every=SAMPLE_EVERY)
        for each in (generator, meter, spark):
            each.wait_ready()
        ready = Line(station, spark, generator, meter, scale, PARTITIONS * rows_at_once)
        say("Spark is up, waiting for the first verdicts")
        ready.first_verdict()
        yield ready


def told(rate: int, stretch: Stretch) -> str:
    grows = "grows" if stretch.lag_grows else "steady"
    if stretch.unseen:
        grows += f", {stretch.unseen:.0%} without verdict in the end"
    return (
        f"{rate:,}/s asked, {stretch.rate:,.0f}/s sent: p50 {stretch.p50_ms:.0f} ms,"
        f" p99 {stretch.p99_ms:.0f} ms, longest {stretch.max_ms:.0f} ms, lag {grows}"
        f" ({stretch.lag_early_s:.2f} to {stretch.lag_late_s:.2f} s),"
        f" {stretch.verdicts:,} verdicts for {stretch.produced:,} payments"
    )
