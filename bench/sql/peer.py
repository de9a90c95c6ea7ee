"""The readers that are compared: each sums a field of the records in a time range."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from bench.sql.fill import TOPIC, Filling
from tools.apache_kafka import start_program

_END_S: Final = 3600.0


class Outcome(NamedTuple):
    name: str
    seconds: float
    answer: tuple[int, int]
    """How many records, and the sum of their amounts."""


def penstock(servers: str, filling: Filling, _: Path) -> Outcome:
    statement = (
        f"SELECT count(*) AS n, sum((value->>'$.amount')::BIGINT)::BIGINT AS s FROM {TOPIC} "
        f"WHERE timestamp >= epoch_ms({filling.first_ms})::TIMESTAMPTZ "
        f"AND timestamp < epoch_ms({filling.last_ms})::TIMESTAMPTZ "
        "AND value->>'$.country' = 'CH'"
    )
    command = [sys.executable, "-m", "penstock", "-b", servers]
    began = time.monotonic()
    done = subprocess.run(
        [*command, "sql", "--json", "--late", "0", statement], check=True, capture_output=True
    )
    said = json.loads(done.stdout)
    return Outcome("`penstock sql`", time.monotonic() - began, (said["n"], said["s"]))


def console_and_jq(servers: str, filling: Filling, folder: Path) -> Outcome:
    """It can begin at no time and end at none, so that it reads them all."""
    pipe = folder / "records"
    os.mkfifo(pipe)
    program = (
        f"reduce (inputs | select(.at >= {filling.first_ms} and .at < {filling.last_ms} "
        'and .country == "CH")) as $r ([0, 0]; [.[0] + 1, .[1] + $r.amount])'
    )
    began = time.monotonic()
    with subprocess.Popen(
        # What the tool says at its end comes the same way.
        ["sh", "-c", f"grep -a '^{{' < {pipe} | jq -nc '{program}'"],
        stdout=subprocess.PIPE,
    ) as jq:
        arguments = ["--bootstrap-server", servers, "--topic", TOPIC, "--from-beginning"]
        reader = start_program(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            [*arguments, "--max-messages", str(filling.records)],
            pipe,
        )
        out, _ = jq.communicate(timeout=_END_S)
        reader.wait(_END_S)
    count, total = json.loads(out)
    return Outcome("`kafka-console-consumer` \\| `jq`", time.monotonic() - began, (count, total))


def spark(servers: str, filling: Filling, _: Path) -> Outcome:
    """Its session is there before the clock starts."""
    from pyspark.sql import functions as f

    from penstock.pipelines.session import session

    engine = session(name="bench-sql")
    began = time.monotonic()
    records = (
        engine.read.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", TOPIC)
        .option("startingTimestamp", str(filling.first_ms))
        .option("endingTimestamp", str(filling.last_ms))
        .load()
    )
    value = f.from_json(records.value.cast("string"), "country string, amount bigint")
    row = (
        records.select(value.alias("v"))
        .where("v.country = 'CH'")
        .agg(f.count("*").alias("n"), f.sum("v.amount").alias("s"))
        .collect()[0]
    )
    seconds = time.monotonic() - began
    engine.stop()
    return Outcome("Spark's batch read", seconds, (row["n"], row["s"]))


PEERS: Final[tuple[Callable[[str, Filling, Path], Outcome], ...]] = (
    penstock,
    console_and_jq,
    spark,
)
