"""The detector with as many accounts as a large bank has: latency, memory, and a new start.

First every account gets a history, as fast as it goes; then payments come at the ladder's first
rate. The new start finds payments waiting, and is timed from the moment Spark itself is up.
"""

from __future__ import annotations

import time
from contextlib import ExitStack

from bench.load.child import LoadFailedError
from bench.pipelines.case.detector import figures
from bench.pipelines.case.outcome import Outcome
from bench.pipelines.case.steady import PARTITIONS, Line, Say, line, told
from bench.pipelines.child import python_child
from bench.pipelines.scale import Scale
from bench.pipelines.station import Station
from bench.pipelines.usage import memory_mb
from penstock.pipelines.jobs.fraud.model import PAYMENTS, VERDICTS

# Accounts are drawn by chance: twice as many payments reach nine of ten.
PAYMENTS_PER_ACCOUNT = 2
FILL_S = 900.0
PAYMENTS_WAITING = 1_000
RESTART_S = 300.0


def accounts(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    return _many("detector", "accounts", station, scale, say)


def accounts_in_store(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    return _many("store", "accounts_store", station, scale, say)


def _many(kind: str, name: str, station: Station, scale: Scale, say: Say) -> Outcome:
    outcome = Outcome()
    rate = scale.ladder[0]
    with line(station, kind, scale, say, accounts=scale.accounts) as running:
        _give_histories(running, say)
        stretch, profile = running.run(rate, scale.warmup_seconds, scale.measured_seconds)
        say(told(rate, stretch))
        outcome.profiles[f"{name}, {rate:,}/s"] = profile
        outcome.notes.append(told(rate, stretch))
        held = memory_mb(running.spark.pid)
        outcome.add(figures(name, stretch) | {f"{name}.memory": sum(held.values())})
        parts = ", ".join(f"{role} {size:,.0f} MB" for role, size in held.items())
        outcome.notes.append(f"memory with {scale.accounts:,} accounts: {parts}")
    seconds = _start_again(station, kind, scale)
    say(f"first verdict {seconds:.1f} s after Spark was up again")
    outcome.add({f"{name}.restart": seconds})
    return outcome


def _give_histories(running: Line, say: Say) -> None:
    count = PAYMENTS_PER_ACCOUNT * running.scale.accounts
    say(f"{count:,} payments, so that accounts have a history")
    running.generator.ask("fill", {"count": count}, timeout_s=FILL_S)
    sent = running.generator.ask("sent")["sent"]
    missing = running.drain(sent, FILL_S)
    if missing:
        raise LoadFailedError(f"{missing:,} of {sent:,} verdicts are missing")
    running.meter.ask("samples")


def _start_again(station: Station, kind: str, scale: Scale) -> float:
    where = {"bootstrap": station.bootstrap, "partitions": PARTITIONS}
    own = {"kind": kind, "folder": str(station.folder), "rows_at_once": 0}
    seen = {"topic": VERDICTS, "every": 1, "from_end": True}
    load = {"topic": PAYMENTS, "accounts": scale.accounts, "seed": 8}
    with ExitStack() as stack:
        generator = stack.enter_context(python_child("generate", where | load, station.folder))
        meter = stack.enter_context(python_child("meter", where | seen, station.folder))
        for each in (generator, meter):
            each.wait_ready()
        generator.ask("fill", {"count": PAYMENTS_WAITING})
        spark = stack.enter_context(python_child("stream", where | own, station.folder))
        spark.wait_ready()
        deadline = time.monotonic() + RESTART_S
        while (first_at := meter.ask("count")["first_at"]) is None:
            spark.ask("check")
            if time.monotonic() > deadline:
                raise LoadFailedError(f"no verdict within {RESTART_S:.0f} s of a new start")
            time.sleep(0.1)
        return float(first_at) - float(spark.ask("session")["at"])
