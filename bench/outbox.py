"""The outbox relay on PostgreSQL: events a second, and how long each waits until acknowledged.

python -m bench.outbox [--rate 5000] [--seconds 30]

Writers add events in transactions of ten, as fast as the rate says; one relay sends them to one
node. PostgreSQL and the node flush to the disk. The relay's own lines are the figures.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from penstock.client import outbox
from penstock.testing.broker import Broker
from tools.postgres import Postgres

WARM_UP_S = 5
WRITERS = 2
TRANSACTION = 10
KEYS = 1000
VALUE = {"order": "o-0000001", "customer": "c-17", "items": ["x" * 20] * 5, "total": 9500}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.outbox")
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--seconds", type=int, default=30)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        Postgres(durable=True) as database,
        Broker(Path(folder) / "data") as broker,
    ):
        broker.create_topic("orders", partitions=6)
        with psycopg.connect(database.url) as connection:
            outbox.create_table(connection)
        lines = measure(database.url, broker.bootstrap_servers, options.rate, options.seconds)
    rates = [each["rate"] for each in lines]
    print(f"asked for {options.rate:,} events/s, {len(lines)} seconds")
    print(f"sent      {median(rates):,.0f} events/s (median second), least {min(rates):,.0f}")
    for name in ("latency_ms_p50", "latency_ms_p99"):
        values = [each[name] for each in lines]
        print(f"{name}: median {median(values):.0f} ms, worst second {max(values):.0f} ms")
    return 0


def measure(url: str, servers: str, rate: int, seconds: int) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "penstock", "-b", servers, "outbox", "relay", "-d", url]
    writers = [
        multiprocessing.Process(
            target=write, args=(url, number, rate / WRITERS, seconds + WARM_UP_S)
        )
        for number in range(WRITERS)
    ]
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True) as relay:
        for each in writers:
            each.start()
        assert relay.stdout is not None
        lines = [json.loads(relay.stdout.readline()) for _ in range(seconds + WARM_UP_S - 1)]
        for each in writers:
            each.join()
        relay.terminate()
    return lines[WARM_UP_S:]


def write(url: str, number: int, rate: float, seconds: float) -> None:
    began, added, behind_s = time.monotonic(), 0, 0.0
    with psycopg.connect(url) as connection:
        while (elapsed := time.monotonic() - began) < seconds:
            due = added / rate
            behind_s = max(behind_s, elapsed - due)
            if due > elapsed:
                time.sleep(due - elapsed)
            for _ in range(TRANSACTION):
                key = f"o-{number}-{added % KEYS}"
                outbox.add(connection, "orders", key, VALUE)
                added += 1
            connection.commit()
    print(f"writer {number}: {added / seconds:,.0f} events/s, {behind_s * 1000:.0f} ms behind")


if __name__ == "__main__":
    sys.exit(main())
