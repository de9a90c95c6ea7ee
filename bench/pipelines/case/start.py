"""From the start of the command until the first verdict can be read, as a user meets it."""

from __future__ import annotations

import time
from contextlib import ExitStack

from bench.load.child import LoadFailedError
from bench.pipelines.case.fill import PARTITIONS, fill_payments
from bench.pipelines.case.outcome import Outcome
from bench.pipelines.case.steady import Say
from bench.pipelines.child import Child, python_child
from bench.pipelines.scale import Scale
from bench.pipelines.station import Station
from penstock.pipelines.jobs.fraud.model import PAYMENTS, VERDICTS
from tools.penstock_broker import penstock_command

PAYMENTS_WAITING = 1_000
TIMEOUT_S = 400.0


def start(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    """With payments waiting. A further round starts the same pipeline again, with new ones."""
    outcome = Outcome()
    station.create({PAYMENTS: PARTITIONS, VERDICTS: PARTITIONS})
    for _ in range(rounds):
        fill_payments(station, PAYMENTS, PAYMENTS_WAITING)
        seconds = _first_verdict(station)
        say(f"first verdict after {seconds:.1f} s")
        outcome.add({"start.first": seconds})
    return outcome


def _first_verdict(station: Station) -> float:
    spec = {
        "bootstrap": station.bootstrap,
        "partitions": PARTITIONS,
        "topic": VERDICTS,
        "every": 1,
        "from_end": True,
    }
    with ExitStack() as stack:
        meter = stack.enter_context(python_child("meter", spec, station.folder))
        meter.wait_ready()
        run = stack.enter_context(run_detector(station))
        deadline = time.monotonic() + TIMEOUT_S
        while (first_at := meter.ask("count")["first_at"]) is None:
            if time.monotonic() > deadline or not run.is_alive:
                raise LoadFailedError(f"no verdict: {run.last_words()}")
            time.sleep(0.1)
    return float(first_at) - run.started_at


def run_detector(station: Station) -> Child:
    command = [*penstock_command(), "pipeline", "run", "fraud"]
    command += ["--bootstrap-server", station.bootstrap]
    command += ["--dir", str(station.folder / "pipelines")]
    return Child(command, station.folder / "run.log", "penstock pipeline run", is_command=True)
