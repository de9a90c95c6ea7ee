"""Write topics through the exactly-once sink while Spark is killed, and look for what went wrong.

    python -m tools.pipeline_kill --driver-kills 20 --worker-kills 60

Five queries share one Spark driver: a copy and a windowed count through the exactly-once sink, a
pipeline that writes every record to a topic and to tables of Iceberg, Delta and Parquet, and the
copy through Spark's own sink and through transactions without the fence. Exit code 0 when every
record of the first three came exactly once (in topics in order per key) and the others show that
the kills would have done harm.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tools.apache_kafka import ApacheKafka
from tools.penstock_broker import Penstock
from tools.progress import Progress
from tools.sink_kill.check import Row, copy_differences, count_differences, differences
from tools.sink_kill.fire import Fire, Plan, Say, Toll
from tools.sink_kill.job import (
    COPY,
    COUNT,
    LATENESS_S,
    PARTITIONS,
    PLAIN,
    SOURCE,
    UNFENCED,
    WINDOW_S,
)
from tools.sink_kill.split import SPLIT, TABLES, rows_in

KEYS = 97
CONTROLS = (PLAIN, UNFENCED)


@dataclass(slots=True)
class Outcome:
    toll: Toll
    records: int
    differences: dict[str, list[str]] = field(default_factory=dict)
    """Per query, everything that is not as it must be."""


def run(
    bootstrap: str, folder: Path, plan: Plan, records: int, jobs: Sequence[str], say: Say
) -> Outcome:
    _create(bootstrap, [SOURCE, *jobs])
    sent, end_s = _feed(bootstrap, records)
    say(f"{len(sent):,} records sent")
    reader = _Reader(bootstrap)
    try:
        toll = Fire(bootstrap, folder, jobs, plan, reader.written, say).run()
        outcome = Outcome(toll, len(sent))
        for job in jobs:
            say(f"comparing {job}")
            found = reader.committed(job)
            wrong = (
                count_differences(sent, found, end_s)
                if job == COUNT
                else copy_differences(sent, found)
            )
            outcome.differences[job] = list(wrong)
        for table in TABLES if SPLIT in jobs else ():
            wrong = differences(Counter(sent), Counter(rows_in(folder, table)))
            outcome.differences[table] = list(wrong)
        return outcome
    finally:
        reader.close()


def _create(bootstrap: str, names: Sequence[str]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names]).values():
        future.result(30)


def _feed(bootstrap: str, records: int) -> tuple[list[Row], int]:
    """Values are seconds of event time; the last one in each partition ends all windows before."""
    # Idempotent: what is sent again keeps its place, and the order below is what was sent.
    settings = {"bootstrap.servers": bootstrap, "linger.ms": 20, "enable.idempotence": True}
    producer = Producer(settings)
    sent = [(f"k{number % KEYS}", str(number)) for number in range(records)]
    for key, value in sent:
        _hand_over(producer, key, value)
    producer.flush()
    # The watermark of a batch counts in the next one, so there must be two, and then one more.
    for step in range(1, 4):
        late = str(records + step * 10 * LATENESS_S)
        for partition in range(PARTITIONS):
            producer.produce(SOURCE, late, f"end{partition}", partition=partition)
            sent.append((f"end{partition}", late))
        producer.flush()
    return sent, records // WINDOW_S * WINDOW_S


def _hand_over(producer: Producer, key: str, value: str) -> None:
    """Waits where the queue is full: on a busy machine the broker is slower than this loop."""
    while True:
        try:
            producer.produce(SOURCE, value, key)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(0.1)


class _Reader:
    def __init__(self, bootstrap: str) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "group.id": "nobody",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
        }
        self._consumer = Consumer(settings)

    def close(self) -> None:
        self._consumer.close()

    def written(self, topics: Sequence[str]) -> int:
        """The ends of the topics, open transactions not counted."""
        partitions = [TopicPartition(name, index) for name in topics for index in range(PARTITIONS)]
        ends = [self._consumer.get_watermark_offsets(each, timeout=30) for each in partitions]
        return sum(end[1] for end in ends if end is not None)

    def committed(self, topic: str) -> list[Row]:
        """Every committed record, partition by partition; waits for what is being decided."""
        self._consumer.assign([TopicPartition(topic, index, 0) for index in range(PARTITIONS)])
        rows: list[list[Row]] = [[] for _ in range(PARTITIONS)]
        unfinished, deadline = set(range(PARTITIONS)), time.monotonic() + 120
        while unfinished:
            if time.monotonic() > deadline:
                raise TimeoutError(f"partitions {sorted(unfinished)} of {topic} have no end")
            message = self._consumer.poll(1.0)
            if message is None:
                continue
            error, partition = message.error(), message.partition() or 0
            if error is None:
                key, value = message.key() or b"", message.value() or b""
                rows[partition].append((bytes(key).decode(), bytes(value).decode()))
            elif error.code() == KafkaError._PARTITION_EOF:
                unfinished.discard(partition)
        return [row for partition in rows for row in partition]


def main() -> int:
    options = _parse()
    # Told to stop, it must still end the processes that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    plan = Plan(options.seed, options.driver_kills, options.worker_kills)
    with tempfile.TemporaryDirectory(prefix="pipeline-kill-") as folder:
        kind = ApacheKafka if options.target == "kafka" else Penstock
        with kind(Path(folder) / "data") as broker, Progress(Path(folder)) as say:
            outcome = run(
                broker.bootstrap_servers, Path(folder), plan, options.records, options.jobs, say
            )
    print(f"seed {options.seed}, {outcome.records:,} records, {outcome.toll}")
    for job, wrong in outcome.differences.items():
        print(f"{job}: {len(wrong)} differences", *wrong[:5], sep="\n    ")
    harmless = [job for job in CONTROLS if outcome.differences.get(job) == []]
    broken = [each for each, wrong in outcome.differences.items() if wrong and each not in CONTROLS]
    return 1 if broken or harmless else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="pipeline_kill", description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=["penstock", "kafka"], default="penstock")
    parser.add_argument("--driver-kills", type=int, default=20)
    parser.add_argument("--worker-kills", type=int, default=60)
    parser.add_argument("--records", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    every = [COPY, COUNT, SPLIT, PLAIN, UNFENCED]
    parser.add_argument("--jobs", nargs="+", choices=every, default=every)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
