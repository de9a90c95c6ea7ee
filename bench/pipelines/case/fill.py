"""Topics filled before the clock runs."""

from __future__ import annotations

from bench.load.child import LoadFailedError, run_load
from bench.pipelines.child import python_child
from bench.pipelines.station import Station

PARTITIONS = 4
ACCOUNTS = 10_000


def fill_bytes(station: Station, topic: str, size: int, count: int) -> None:
    """One payload over and over, without keys."""
    station.create({topic: PARTITIONS})
    spec = {"bootstrap": station.bootstrap, "topic": topic, "size": size, "count": count}
    run_load("produce", spec, timeout_s=600)


def fill_payments(station: Station, topic: str, count: int) -> None:
    """Payments, keyed by account, into a topic that is there."""
    spec = {
        "bootstrap": station.bootstrap,
        "topic": topic,
        "partitions": PARTITIONS,
        "accounts": ACCOUNTS,
    }
    with python_child("generate", spec, station.folder) as generator:
        generator.wait_ready()
        answer = generator.ask("fill", {"count": count}, timeout_s=300)
    if answer["failures"] or answer["sent"] != count:
        raise LoadFailedError(f"the topic could not be filled: {answer}")
