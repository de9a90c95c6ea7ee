"""Consumers as functions, beside FastStream and a bare confluent-kafka loop.

python -m bench.client [--rounds 3] [--write]: one Penstock node, three partitions, JSON of 200
bytes; each reading is a process of its own. With --write, the table goes to docs/applications.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import uuid
from pathlib import Path
from statistics import median

from bench.client.work import WAIT_S, Spec, command
from penstock.testing.broker import Broker
from tools.page import write_section

PAGE = Path(__file__).resolve().parents[2] / "docs" / "applications.md"
HEADING = "## Speed"
BYTES = 200
KEYS = 1000
CONCURRENCY = 64
RECORDS = {
    "bare": 200_000,
    "penstock": 200_000,
    "penstock-retry": 200_000,
    "faststream-confluent": 20_000,
    "faststream-aiokafka": 20_000,
    "penstock-waiting": 12_800,
}
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


def read(broker: Broker, topic: str, what: str) -> float:
    """Records a second."""
    records = RECORDS[what]
    spec = Spec(what, broker.bootstrap_servers, topic, f"g-{uuid.uuid4().hex[:8]}", records)
    ended = subprocess.run(command(spec), capture_output=True, text=True, timeout=180, check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"{what}: {ended.stderr[-2000:]}")
    return records / float(ended.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write docs/applications.md")
    arguments = parser.parse_args()
    rounds = arguments.rounds
    settings = {"group.initial.rebalance.delay.ms": 0, "log.flush.interval.messages": 1_000_000}
    with tempfile.TemporaryDirectory() as home, Broker(Path(home) / "data", settings) as broker:
        fill(broker, "orders")
        # Round by round, so that a machine's mood is everybody's.
        figures: dict[str, list[float]] = {what: [] for what in RECORDS}
        for _ in range(rounds):
            for what, found in figures.items():
                found.append(read(broker, "orders", what))
    middle = {what: median(found) for what, found in figures.items()}
    section = told(middle, rounds)
    print(section)
    if arguments.write:
        write_section(PAGE, "# Applications", HEADING, section)


def told(middle: dict[str, float], rounds: int) -> str:
    ideal = CONCURRENCY / WAIT_S
    rows = [
        f"| {LABELS[what]} | {rate:,.0f} | {remark(what, middle)} |"
        for what, rate in middle.items()
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
        "| work | records a second | |",
        "| --- | ---: | --- |",
        *rows,
        "",
        f"The last has {KEYS:,} keys whose order is kept; {possible}",
    ]
    return "\n".join(lines)


def remark(what: str, middle: dict[str, float]) -> str:
    if what == "penstock-waiting":
        return f"{middle[what] / (CONCURRENCY / WAIT_S):.0%} of what is possible"
    if what == "penstock-retry":
        return f"{middle[what] / middle['penstock']:.1%} of the one without"
    return f"{middle[what] / middle['bare']:.2f} of the bare loop"


if __name__ == "__main__":
    main()
