"""A large topic read in one batch job: its records counted, their lengths summed."""

from __future__ import annotations

from bench.load.child import LoadFailedError
from bench.pipelines.case.fill import fill_bytes
from bench.pipelines.case.outcome import Outcome
from bench.pipelines.case.steady import Say
from bench.pipelines.child import python_child
from bench.pipelines.scale import Scale
from bench.pipelines.station import Station

RECORD_BYTES = 1024


def read(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    outcome = Outcome()
    count = scale.read_megabytes * 1_000_000 // RECORD_BYTES
    say(f"filling a topic with {scale.read_megabytes:,} MB")
    fill_bytes(station, "large", RECORD_BYTES, count)
    fill_bytes(station, "small", RECORD_BYTES, max(1_000, count // 100))
    spec = {"bootstrap": station.bootstrap, "folder": str(station.folder)}
    with python_child("batch", spec, station.folder) as spark:
        spark.wait_ready()
        say("Spark is up, warming up")
        for _ in range(2):
            spark.ask("read", {"topic": "small"}, timeout_s=120)
        for _ in range(rounds):
            answer = spark.ask("read", {"topic": "large"}, timeout_s=600)
            if answer["rows"] < count:
                raise LoadFailedError(f"{answer['rows']:,} of {count:,} records were read")
            rate = answer["bytes"] / 1e6 / answer["seconds"]
            say(f"{answer['bytes'] / 1e6:,.0f} MB in {answer['seconds']:.1f} s: {rate:.0f} MB/s")
            outcome.add({"read.rate": rate})
    return outcome
