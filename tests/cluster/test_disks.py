"""Disks of three nodes decay or break: replicas are whole again, others lead, nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.model.id import TopicPartition
from penstock.testing.cluster import Cluster
from penstock.testing.nursery import Nursery
from tests.cluster.broken_disk import PREPARE, break_disk, mend_disk
from tests.cluster.test_cluster_metrics import scrape
from tests.patience import wait_until

PATIENCE_S = 90.0
TOPIC = "t"
RECORDS = 300
SETTINGS: dict[str, object] = {
    "log.segment.bytes": 1 << 20,
    "penstock.scrub.interval.ms": 500,
    "offsets.topic.num.partitions": 1,
}


def segments(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.log"))


def content(directory: Path) -> bytes:
    return b"".join(each.read_bytes() for each in segments(directory))


def produce(cluster: Cluster, numbers: range) -> list[bytes]:
    sent = [b"%06d" % number * 2000 for number in numbers]
    for start in range(0, len(sent), 20):
        cluster.produce(TOPIC, sent[start : start + 20], partition=0, timeout_s=PATIENCE_S)
    return sent


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Cluster]:
    nursery = Nursery()
    cluster = Cluster(tmp_path / "cluster", 3, SETTINGS, metrics=True, nursery=nursery)
    try:
        cluster.start_all()
        yield cluster
    finally:
        cluster.kill_all()
        nursery.close()


@pytest.mark.parametrize("while_up", [True, False], ids=["running", "stopped"])
@pytest.mark.parametrize("leads", [True, False], ids=["leader", "follower"])
def test_a_damaged_replica_is_whole_again(three: Cluster, leads: bool, while_up: bool) -> None:
    """A byte in a sealed segment and one in the active segment, one after the other."""
    three.create_topic(TOPIC)
    sent = produce(three, range(RECORDS))
    three.wait_in_sync()
    for segment in (0, -1):
        leader = three.leader(TOPIC)
        sick = leader if leads else next(each for each in three.nodes if each != leader)
        directory = three.nodes[sick].data_dir / f"{TOPIC}-0"
        if not while_up:
            three.stop(sick)
        repaired = 0.0 if not while_up else scrape(three, sick)["penstock_repaired_replicas"]
        path = segments(directory)[segment]
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            byte = file.read(1)[0]
            file.seek(-1, 1)
            file.write(bytes([byte ^ 0x10]))
        if not while_up:
            three.start(sick)
        wait_until(
            lambda sick=sick, repaired=repaired: (  # type: ignore[misc]
                scrape(three, sick)["penstock_repaired_replicas"] > repaired
            )
        )
        sent += produce(three, range(len(sent), len(sent) + 20))
        three.wait_in_sync(timeout_s=PATIENCE_S)
    read = three.read(TOPIC, count=len(sent), timeout_s=PATIENCE_S)
    assert [each.value for each in read] == sent
    assert [each.offset for each in read] == list(range(len(sent)))
    homes = [each.data_dir / f"{TOPIC}-0" for each in three.nodes.values()]
    wait_until(lambda: len({content(home) for home in homes}) == 1)
    assert len(segments(homes[0])) > 2


def test_a_disk_breaks_and_others_lead(tmp_path: Path) -> None:
    nursery = Nursery()
    cluster = Cluster(
        tmp_path / "cluster", 3, SETTINGS, metrics=True, prepare=PREPARE, nursery=nursery
    )
    for node in cluster.nodes.values():
        node.settings["log.dirs"] = f"{node.data_dir}/one,{node.data_dir}/two"

    def send(value: str, index: int) -> None:
        """Once, also where it is written and its answer is an error."""
        once = {"enable.idempotence": True}
        cluster.produce(TOPIC, [value], partition=index, timeout_s=PATIENCE_S, settings=once)

    try:
        cluster.start_all()
        cluster.create_topic(TOPIC, 8)
        for index in range(8):
            send("before", index)
        cluster.wait_in_sync()
        broken = cluster.nodes[1].data_dir / "two"
        lost = [int(each.name.rpartition("-")[2]) for each in broken.glob(f"{TOPIC}-*")]
        assert 0 < len(lost) < 8
        break_disk(broken)
        for index in range(8):
            send("after", index)

        def moved() -> bool:
            seen = cluster.partitions(2)
            return all(
                (1 in seen[TopicPartition(TOPIC, index)].in_sync) != (index in lost)
                for index in range(8)
            )

        wait_until(moved)
        seen = cluster.partitions(2)
        assert all(seen[TopicPartition(TOPIC, index)].leader != 1 for index in lost)
        assert cluster.nodes[1].running
        assert scrape(cluster, 1)["penstock_log_dir_offline"] == 1
        read = cluster.read(TOPIC, count=16, timeout_s=PATIENCE_S)
        assert [each.value for each in read] == [b"before", b"after"] * 8
        cluster.stop(1)
        mend_disk(broken)
        cluster.start(1)
        cluster.wait_in_sync(timeout_s=PATIENCE_S)
        # The disk of the metadata log ends the node.
        break_disk(cluster.nodes[1].data_dir / "one")
        wait_until(lambda: not cluster.nodes[1].running)
        send("more", 0)
    finally:
        cluster.kill_all()
        nursery.close()
