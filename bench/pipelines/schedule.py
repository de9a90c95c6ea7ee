"""Runs the workloads on each broker in turn; what fails is noted, and the rest goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.peer import KAFKA, PENSTOCK, PENSTOCK_FSYNC
from bench.pipelines.case.accounts import accounts, accounts_in_store
from bench.pipelines.case.copy import copy
from bench.pipelines.case.detector import detector, realtime, store
from bench.pipelines.case.outcome import Outcome
from bench.pipelines.case.read import read
from bench.pipelines.case.start import start
from bench.pipelines.case.stateless import stateless
from bench.pipelines.case.steady import Say
from bench.pipelines.scale import Scale
from bench.pipelines.section import Results
from bench.pipelines.station import Station, station

Workload = Callable[[Station, Scale, int, Say], Outcome]

WORKLOADS: Final[dict[str, Workload]] = {
    "start": start,
    "stateless": stateless,
    "detector": detector,
    "realtime": realtime,
    "store": store,
    "accounts": accounts,
    "accounts-store": accounts_in_store,
    "sink": copy,
    "read": read,
}
# Where a flush before every acknowledgement could be felt.
_FLUSHED: Final = ("detector", "realtime", "store", "sink")


def brokers_for(name: str, wanted: Sequence[str] | None) -> Sequence[str]:
    """Those that were asked for; else the ones that have something to say about this workload."""
    if wanted:
        return wanted
    if name.startswith("accounts"):
        return (PENSTOCK,)
    return (PENSTOCK, *((PENSTOCK_FSYNC,) if name in _FLUSHED else ()), KAFKA)


@dataclass(frozen=True)
class Schedule:
    workloads: Sequence[str]
    brokers: Sequence[str] | None
    rounds: int
    scale: Scale
    scratch: Path | None
    say: Say

    def run(self, results: Results | None = None) -> Results:
        """Into results of earlier runs, where there are any: what is measured again replaces."""
        results = results or Results()
        for name in self.workloads:
            for broker in brokers_for(name, self.brokers):
                self._attempt(name, broker, results)
        return results

    def _attempt(self, name: str, broker: str, results: Results) -> None:
        def say(line: str) -> None:
            self.say(f"{name:10} {broker:14} {line}")

        # What the one left unwritten must not be written while the other is measured.
        os.sync()
        time.sleep(self.scale.settle_seconds)
        began = time.monotonic()
        # The largest rate that holds is looked for once.
        scale = self.scale if broker == PENSTOCK else self.scale.without_climb()
        say("starting the broker")
        try:
            with station(broker, self.scratch) as place:
                outcome = WORKLOADS[name](place, scale, self.rounds, say)
        except Exception as error:
            # Whatever it is, it is shown, and says nothing about the next one.
            said = str(error).strip() or type(error).__name__
            # Of a trace, the last line says what happened.
            results.failures.append(f"{name}, {broker}: {said.splitlines()[-1]}")
            say(f"FAILED after {time.monotonic() - began:.0f} s: {type(error).__name__}: {said}")
            return
        results.outcomes.setdefault(name, {})[broker] = outcome
        say(f"done in {time.monotonic() - began:.0f} s")
