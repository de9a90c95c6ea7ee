"""Consumers as functions, beside FastStream and a bare confluent-kafka loop.

python -m bench.client [--rounds 3] [--write] [--other quix=PYTHON] [--other faust=PYTHON]

One Penstock node, three partitions, JSON of 200 bytes; each reading is a process of its own. With
--write, the table goes to docs/applications.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import uuid
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.client.work import WAIT_S, Spec, command
from penstock.testing.broker import Broker
from tools.page import write_section

PAGE = Path(__file__).resolve().parents[2] / "docs" / "applications.md"
HEADING = "## Speed"
BYTES = 200
KEYS = 1000
CONCURRENCY = 64
RECORDS = {
    "bare": 1_000_000,
    "penstock": 1_000_000,
    "penstock-retry": 1_000_000,
    "faststream-confluent": 20_000,
    "faststream-aiokafka": 20_000,
    "penstock-waiting": 12_800,
}
OTHERS = {"faust": "the same with Faust", "quix": "the same with Quix Streams"}
"""In a Python that has them: their dependencies are not ours."""
OTHER_RECORDS = 20_000
LABELS = {
    "bare": "a bare confluent-kafka loop that decodes",
    "penstock": "a function that does nothing",
    "penstock-retry": "the same with three retry topics",
    "faststream-confluent": "the same with FastStream, confluent",
    "faststream-aiokafka": "the same with FastStream, aiokafka",
    "penstock-waiting": "a function that waits 20 ms, concurrency 64",
}


def value(number: int) -> bytes:
    text = json.dumps({"id": number, "customer": f"c{number % KEYS}", "note": ""})
    filled = json.dumps({**json.loads(text), "note": "x" * (BYTES - len(text))})
    return filled.encode()


def fill(broker: Broker, topic: str) -> None:
    from confluent_kafka import Producer

    broker.create_topic(topic, partitions=3)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 20})
    for number in range(max(RECORDS.values())):
        producer.produce(topic, value(number), key=f"k{number % KEYS}")
        if number % 10_000 == 0:
            producer.poll(0)
            producer.flush()
    producer.flush()


class Reading(NamedTuple):
    """Records a second: as it was, and for each second of a processor."""

    rate: float
    worked: float


def read(broker: Broker, topic: str, what: str, python: str | None = None) -> Reading:
    """By another Python, where one is named."""
    records = RECORDS.get(what, OTHER_RECORDS)
    spec = Spec(what, broker.bootstrap_servers, topic, f"g-{uuid.uuid4().hex[:8]}", records)
    ended = (
        subprocess.run(command(spec), capture_output=True, text=True, timeout=180, check=False)
        if python is None
        else read_elsewhere(spec, python)
    )
    if ended.returncode != 0:
        raise RuntimeError(f"{what}: {ended.stderr[-2000:]}")
    passed_s, worked_s = map(float, ended.stdout.split()[-2:])
    return Reading(records / passed_s, records / worked_s)


def read_elsewhere(spec: Spec, python: str) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        given = json.dumps(asdict(spec) | {"folder": folder})
        command = [python, str(Path(__file__).with_name("others.py")), spec.what, given]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=180, check=False, env=bare
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write docs/applications.md")
    parser.add_argument("--other", action="append", default=[], metavar="NAME=PYTHON")
    arguments = parser.parse_args()
    others = dict(each.split("=", 1) for each in arguments.other)
    rounds = arguments.rounds
    settings = {"group.initial.rebalance.delay.ms": 0, "log.flush.interval.messages": 1_000_000}
    with tempfile.TemporaryDirectory() as home, Broker(Path(home) / "data", settings) as broker:
        fill(broker, "orders")
        # Round by round, so that a machine's mood is everybody's.
        figures: dict[str, list[Reading]] = {what: [] for what in (*RECORDS, *others)}
        for _ in range(rounds):
            for what, found in figures.items():
                found.append(read(broker, "orders", what, others.get(what)))
    middle = {
        what: Reading(*(median(each) for each in zip(*found, strict=True)))
        for what, found in figures.items()
    }
    section = told(middle, rounds)
    print(section)
    if arguments.write:
        write_section(PAGE, "# Applications", HEADING, section)


def told(middle: dict[str, Reading], rounds: int) -> str:
    ideal, labels = CONCURRENCY / WAIT_S, LABELS | OTHERS
    rows = [
        f"| {labels[what]} | {each.rate:,.0f} | {each.worked:,.0f} | {remark(what, middle)} |"
        for what, each in middle.items()
    ]
    made = (
        f"One process and one node on {os.cpu_count()} cores, JSON of {BYTES} bytes, the middle of"
    )
    possible = f"{ideal:,.0f} a second is what {CONCURRENCY} at a time can do."
    lines = [
        HEADING,
        "",
        f"{made} {rounds} (`make bench-client`):",
        "",
        "| work | records a second | of the processor | by the processor |",
        "| --- | ---: | ---: | --- |",
        *rows,
        "",
        "The second figure counts only the seconds that the process was at work on a processor."
        + others_use_it(),
        "",
        f"What waits has {KEYS:,} keys whose order is kept; {possible}",
    ]
    return "\n".join(lines)


def others_use_it() -> str:
    load = os.getloadavg()[2]
    if load <= 2 * (os.cpu_count() or 1):
        return ""
    return f" The first is of a machine that others used as well (a load of {load:.0f})."


def remark(what: str, middle: dict[str, Reading]) -> str:
    """By the processor's seconds: those of a busy machine say little."""
    if what == "penstock-waiting":
        return f"{middle[what].rate / (CONCURRENCY / WAIT_S):.0%} of what is possible"
    if what == "penstock-retry":
        return f"{middle[what].worked / middle['penstock'].worked:.1%} of the one without"
    return f"{middle[what].worked / middle['bare'].worked:.2f} of the bare loop"


if __name__ == "__main__":
    main()
