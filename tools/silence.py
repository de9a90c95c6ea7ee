"""How long a producer gets no acknowledgement when the leader of its partition goes away.

    python -m tools.silence --rounds 5

A librdkafka producer with default settings sends to one partition of a cluster of three with
default settings; its leader is killed, stopped or paused. The longest time between two
acknowledgements counts. Where the leader is the active controller as well, that is told apart.
A paused leader keeps its connections: there the producer gives a request up after five seconds. By
default it does so after a minute, and then nothing else would be seen of either cluster.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from statistics import median

from confluent_kafka import KafkaError, Message, Producer

from penstock.model.id import TopicPartition
from penstock.testing.cluster import Cluster
from penstock.testing.nursery import close_shared_nursery
from tools.cluster_chaos.kafka_target import KafkaTarget

TOPIC = "silence"
PARTITIONS = 6
KINDS = ("kill", "stop", "pause")
_BEFORE_S = 1.5
_LONGEST_S = 60.0
_STEADY_ACKS = 50
_EVERY_S = 0.01
_IMPATIENT = {"socket.timeout.ms": 5_000}


class Speaker(threading.Thread):
    """Sends a record every ten milliseconds, and notes when each was acknowledged."""

    def __init__(
        self, bootstrap: str, partition: int, settings: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(daemon=True)
        self.heard_s: list[float] = []
        self.stopping = threading.Event()
        self._partition = partition
        own = {"bootstrap.servers": bootstrap, "log_level": 0}
        self._producer = Producer(own | dict(settings or {}))

    def run(self) -> None:
        while not self.stopping.is_set():
            self._producer.produce(
                TOPIC, b"x" * 100, partition=self._partition, on_delivery=self._heard
            )
            self._producer.poll(_EVERY_S)
        self._producer.flush(30)

    def _heard(self, error: KafkaError | None, _: Message) -> None:
        if error is None:
            self.heard_s.append(time.monotonic())

    def silence_s(self, since: float) -> float:
        """The longest, from the last acknowledgement before `since` on."""
        times = list(self.heard_s)
        first = max((at for at in range(len(times)) if times[at] <= since), default=0)
        times = times[first:]
        return max((b - a for a, b in pairwise(times)), default=0.0)


def measure(cluster: Cluster, kind: str, *, at_controller: bool) -> float:
    """One round, after which the cluster is whole again."""
    cluster.wait_in_sync()
    partition, leader = _choose(cluster, at_controller)
    settings = _IMPATIENT if kind == "pause" else None
    speaker = Speaker(cluster.bootstrap_servers, partition, settings)
    speaker.start()
    _wait(lambda: bool(speaker.heard_s), 30.0)
    time.sleep(_BEFORE_S)
    began = time.monotonic()
    undo = _strike(cluster, kind, leader)
    struck = time.monotonic() if kind == "pause" else began
    _wait(lambda: sum(at > struck + 0.3 for at in list(speaker.heard_s)) > _STEADY_ACKS, _LONGEST_S)
    undo()
    speaker.stopping.set()
    speaker.join(40)
    return speaker.silence_s(began)


def _choose(cluster: Cluster, at_controller: bool) -> tuple[int, int]:
    controller = cluster.controller()
    for where, view in cluster.partitions(cluster.running[0]).items():
        if where.topic == TOPIC and (view.leader == controller) == at_controller:
            return where.partition, view.leader
    # All leaders have gathered on one side: move one.
    where = TopicPartition(TOPIC, 0)
    raise RuntimeError(f"no partition of {where.topic} is led where it is wanted")


def _strike(cluster: Cluster, kind: str, number: int) -> Callable[[], None]:
    if kind == "pause":
        cluster.pause(number)
        return lambda: cluster.resume(number)
    if kind == "kill":
        cluster.kill(number)
    else:
        cluster.stop(number)
    return lambda: cluster.start(number)


def _wait(done: Callable[[], bool], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def main() -> int:
    options = _parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="silence-", dir=options.scratch))
    new = KafkaTarget if options.target == "kafka" else Cluster
    cluster = new(folder / "cluster")
    try:
        cluster.start_all()
        cluster.create_topic(TOPIC, PARTITIONS, timeout_s=30)
        for kind in options.kinds:
            for at_controller in (False, True):
                _report(cluster, kind, at_controller, options.rounds)
    finally:
        cluster.kill_all()
        close_shared_nursery()
        if options.keep:
            print(f"logs are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def _report(cluster: Cluster, kind: str, at_controller: bool, rounds: int) -> None:
    found: list[float] = []
    for _ in range(rounds):
        try:
            found.append(measure(cluster, kind, at_controller=at_controller))
        except RuntimeError as error:
            print(f"{kind}: {error}", flush=True)
            continue
    who = "leader and active controller" if at_controller else "leader"
    all_of_them = ", ".join(f"{each:.2f}" for each in sorted(found))
    middle = f"{median(found):.2f}" if found else "-"
    print(f"{kind} of the {who}: median {middle} s of {all_of_them}", flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="silence", description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=["penstock", "kafka"], default="penstock")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--scratch", type=Path, help="where to put the data meanwhile")
    parser.add_argument("--keep", action="store_true", help="keep the nodes' logs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
