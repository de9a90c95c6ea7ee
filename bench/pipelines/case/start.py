"""From the start of the command until the first verdict can be read, as a user meets it.

The first start after an installation finds no archive of the classes that Spark loads, and leaves
one as it ends. So that both are seen, the starts here share a cache of their own: the same jars,
and in the beginning no archive.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

from bench.load.child import LoadFailedError
from bench.pipelines.case.fill import PARTITIONS, fill_payments
from bench.pipelines.case.outcome import Outcome
from bench.pipelines.case.steady import Say
from bench.pipelines.child import Child, python_child
from bench.pipelines.scale import Scale
from bench.pipelines.station import Station
from penstock.pipelines.jar import CACHE_VARIABLE, ensure_jars
from penstock.pipelines.jobs.fraud.model import PAYMENTS, VERDICTS
from penstock.pipelines.version import KAFKA
from tools.penstock_broker import penstock_command

PAYMENTS_WAITING = 1_000
TIMEOUT_S = 900.0
ARCHIVE_TIMEOUT_S = 60.0


def start(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    """With payments waiting: once without an archive, then each round with it."""
    outcome = Outcome()
    station.create({PAYMENTS: PARTITIONS, VERDICTS: PARTITIONS})
    cache = _cache(station.folder / "cache")
    for number in range(1 + rounds):
        fill_payments(station, PAYMENTS, PAYMENTS_WAITING)
        seconds = _first_verdict(station, cache)
        if number == 0:
            archive_mb = _archived_mb(cache)
            say(f"first verdict after {seconds:.1f} s, leaving an archive of {archive_mb:.0f} MB")
            outcome.add({"start.recording": seconds})
        else:
            say(f"first verdict after {seconds:.1f} s, with that archive")
            outcome.add({"start.first": seconds})
    return outcome


def _cache(folder: Path) -> Path:
    jars = ensure_jars(KAFKA)[0].parent
    folder.mkdir()
    (folder / jars.name).symlink_to(jars)
    return folder


def _archived_mb(cache: Path) -> float:
    """Java writes it as it ends, maybe behind the command; the next start takes it under its final
    name."""
    deadline = time.monotonic() + ARCHIVE_TIMEOUT_S
    while time.monotonic() < deadline:
        whole = [file for file in (cache / "classes").glob("*.new") if any(file.read_bytes()[:4])]
        if whole:
            return sum(file.stat().st_size for file in whole) / 1e6
        time.sleep(0.5)
    raise LoadFailedError("the first start has left no archive of classes")


def _first_verdict(station: Station, cache: Path) -> float:
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
        run = stack.enter_context(run_detector(station, cache))
        deadline = time.monotonic() + TIMEOUT_S
        while (first_at := meter.ask("count")["first_at"]) is None:
            if time.monotonic() > deadline or not run.is_alive:
                raise LoadFailedError(f"no verdict: {run.last_words()}")
            time.sleep(0.1)
    return float(first_at) - run.started_at


def run_detector(station: Station, cache: Path) -> Child:
    command = [*penstock_command(), "pipeline", "run", "fraud"]
    command += ["--bootstrap-server", station.bootstrap]
    command += ["--dir", str(station.folder / "pipelines")]
    return Child(
        command,
        station.folder / "run.log",
        "penstock pipeline run",
        is_command=True,
        environment={CACHE_VARIABLE: str(cache)},
    )
