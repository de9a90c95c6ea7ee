"""The exactly-once topic sink beside Spark's own at-least-once sink, on the same copy."""

from __future__ import annotations

from bench.load.child import LoadFailedError
from bench.pipelines.case.fill import PARTITIONS, fill_payments
from bench.pipelines.case.outcome import Outcome
from bench.pipelines.case.steady import Say
from bench.pipelines.child import Child, python_child
from bench.pipelines.scale import Scale
from bench.pipelines.station import Station

DELIVERIES = {"exactly-once": "copy.exactly_once", "at-least-once": "copy.at_least_once"}


def copy(station: Station, scale: Scale, rounds: int, say: Say) -> Outcome:
    outcome = Outcome()
    count = scale.copy_records
    station.create({"source": PARTITIONS, "small": PARTITIONS})
    fill_payments(station, "source", count)
    fill_payments(station, "small", max(1_000, count // 20))
    spec = {"bootstrap": station.bootstrap, "folder": str(station.folder)}
    with python_child("batch", spec, station.folder) as spark:
        spark.wait_ready()
        say("Spark is up, warming up both sinks")
        for delivery in DELIVERIES:
            _rate(station, spark, "small", f"warm-{delivery}", delivery)
        for number in range(max(2, rounds)):
            rates = {}
            for delivery, key in DELIVERIES.items():
                rates[key] = _rate(
                    station, spark, "source", f"{delivery}-{number}", delivery, count
                )
                say(f"{delivery}: {rates[key]:,.0f} rows/s")
            outcome.add(
                rates | {"copy.ratio": rates["copy.exactly_once"] / rates["copy.at_least_once"]}
            )
    return outcome


def _rate(
    station: Station, spark: Child, source: str, target: str, delivery: str, count: int = 0
) -> float:
    station.create({target: PARTITIONS})
    order = {"source": source, "target": target, "delivery": delivery}
    answer = spark.ask("copy", order, timeout_s=300)
    if answer["rows"] < count:
        raise LoadFailedError(f"{delivery}: {answer['rows']:,} of {count:,} rows were copied")
    return float(answer["rows"] / answer["seconds"])
