"""How long `penstock doctor` takes beyond the time that it looks: a cluster of many groups and
partitions, first with all groups at the end of their topics, then with all of them behind.

python -m bench.doctor [--nodes 3] [--groups 1000] [--partitions 10000] [--runs 3] [--profile FILE]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

from bench.process import cpu_seconds
from penstock.cli.cluster import Cluster as CliCluster
from penstock.cli.leader_call import LATEST, Address, leaders_of, list_offsets, read_metadata
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.cli.wire_call import BrokerConnection
from penstock.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record
from penstock.testing.cluster import Cluster

TOPIC_PARTITIONS = 500
RECORDS = 10
WINDOW_S = 1.0
COMMIT_VERSION = 9
PRODUCE_VERSION = 12
SETTINGS = {
    "penstock.metrics.topic.enable": "true",
    "penstock.metrics.topic.interval.ms": "5000",
    "log.flush.interval.messages": "9223372036854775807",
}


def topics_of(options: argparse.Namespace) -> list[str]:
    return [f"topic-{each}" for each in range(options.partitions // TOPIC_PARTITIONS)]


def fill(link: Link, topics: list[str]) -> None:
    """Ten records in each partition."""
    batch = bytes(
        build_batch(
            Record(each, int(time.time() * 1000) - 600_000, None, b"x") for each in range(RECORDS)
        )
    )
    by_leader: dict[Address, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for (topic, partition), address in leaders_of(read_metadata(link, topics)).by_place.items():
        by_leader[address][topic].append(partition)
    for leader, theirs in by_leader.items():
        with BrokerConnection(link.connect, *leader) as connection:
            for topic, partitions in theirs.items():
                data = [PartitionProduceData(index=each, records=batch) for each in partitions]
                request = ProduceRequest(
                    acks=-1,
                    timeout_ms=30_000,
                    topic_data=[TopicProduceData(name=topic, partition_data=data)],
                )
                connection.call(request, ProduceResponse, PRODUCE_VERSION)


def commit(link: Link, options: argparse.Namespace, offset: int) -> None:
    """Each group some partitions, all of them together every partition once."""
    topics, each_has = topics_of(options), options.partitions // options.groups
    names = [f"group-{each}" for each in range(options.groups)]
    coordinators: dict[tuple[str, int], list[int]] = defaultdict(list)
    deadline = time.monotonic() + 120
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=names)
    while True:
        found = link.call(request, FindCoordinatorResponse).coordinators
        if not any(each.error_code for each in found):
            break
        assert time.monotonic() < deadline
        time.sleep(0.5)
    for number, each in enumerate(found):
        coordinators[each.host, each.port].append(number)
    for address, numbers in coordinators.items():
        with BrokerConnection(link.connect, *address) as connection:
            for number in numbers:
                _commit_one(connection, names[number], topics, number * each_has, each_has, offset)


def _commit_one(
    connection: BrokerConnection, group: str, topics: list[str], first: int, count: int, offset: int
) -> None:
    places: dict[str, list[OffsetCommitRequestPartition]] = defaultdict(list)
    for at in range(first, first + count):
        places[topics[at // TOPIC_PARTITIONS]].append(
            OffsetCommitRequestPartition(
                partition_index=at % TOPIC_PARTITIONS,
                committed_offset=offset,
                committed_leader_epoch=-1,
                committed_metadata="",
            )
        )
    request = OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[OffsetCommitRequestTopic(name=name, partitions=p) for name, p in places.items()],
    )
    deadline = time.monotonic() + 60
    while True:
        answer = connection.call(request, OffsetCommitResponse, COMMIT_VERSION)
        codes = {each.error_code for topic in answer.topics for each in topic.partitions}
        if codes == {0}:
            return
        assert time.monotonic() < deadline, codes
        time.sleep(0.2)


def examine(cluster: Cluster, profile: str | None) -> tuple[float, float, float]:
    """Seconds beyond the window; of the processor, for the command; and for the nodes."""
    how = ["-m", "cProfile", "-o", profile] if profile else []
    command = [sys.executable, *how, "-m", "penstock.cli.main", "-b"]
    nodes = cpu_of(cluster)
    before, began = os.times(), time.perf_counter()
    subprocess.run(
        [
            *command,
            cluster.bootstrap_servers,
            "doctor",
            "--for",
            f"{WINDOW_S:.0f}s",
            "--disk",
            "100",
            "--json",
        ],
        check=False,
        stdout=subprocess.DEVNULL,
    )
    took, after = time.perf_counter() - began, os.times()
    spent = sum(after[2:4]) - sum(before[2:4])
    return took - WINDOW_S, spent, cpu_of(cluster) - nodes


def cpu_of(cluster: Cluster) -> float:
    return sum(cpu_seconds(each.pid) for each in cluster.nodes.values())


def measure(options: argparse.Namespace, cluster: Cluster) -> None:
    link = Link(CliCluster(Target(cluster.bootstrap_servers), timeout_s=60))
    for each in topics_of(options):
        cluster.create_topic(each, TOPIC_PARTITIONS, replication_factor=1, timeout_s=60)
    fill(link, topics_of(options))
    ends = list_offsets(link, leaders_of(read_metadata(link)), [("topic-0", 0)], LATEST)
    assert ends == {("topic-0", 0): RECORDS}, ends
    for words, offset in (("at the end", RECORDS), ("all behind", 1)):
        commit(link, options, offset)
        runs = [examine(cluster, options.profile) for _ in range(options.runs)]
        print(
            f"{options.groups:,} groups, {options.partitions:,} partitions, {words}: "
            f"{median(each[0] for each in runs):.2f} s beyond the {WINDOW_S:.0f} s that it looks, "
            f"{median(each[1] for each in runs):.2f} s of the processor, "
            f"{median(each[2] for each in runs):.2f} s for the nodes "
            f"(all: {', '.join(f'{each[0]:.2f}' for each in runs)})",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.doctor", description="time of a look")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profile", help="where to leave cProfile's file of the last run")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="bench-doctor-") as name,
        Cluster(Path(name) / "cluster", options.nodes, SETTINGS) as cluster,
    ):
        measure(options, cluster)
    return 0


if __name__ == "__main__":
    sys.exit(main())
