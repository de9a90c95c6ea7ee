"""`penstock capacity`: the arithmetic, and a running cluster measured."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from confluent_kafka import Producer

from penstock.cli.capacity.plan import Demand, DiskOutlook, plan_for
from penstock.cli.capacity.topic_advice import TopicLoad, advise
from penstock.cli.freeable import older_bytes
from tests.unit.cli.conftest import Command

MB = 1024.0**2


def test_the_arithmetic() -> None:
    demand = Demand(
        write_bytes_s=10 * MB,
        peak_factor=2,
        replication=3,
        retention_s=1000,
        groups=4,
        outage_s=3600,
        catch_up_s=600,
        partition_bytes_s=5 * MB,
        consumers=3,
        headroom=1.5,
        disk_bytes=50_000 * MB,
        network_bytes_s=100 * MB,
    )
    plan = plan_for(demand)
    found = {each.name: each.value / (MB if each.unit else 1) for each in plan.steps}
    assert found == {
        "peak of producers": 20,
        "kept on disks": 30_000,
        "disks, at most 60 % full": 75_000,
        "network in": 90,
        "read at peak": 80,
        "read to catch up": 280,
        "network out": 480,
        "brokers for disks": 2,
        "brokers for network": 5,
        "brokers": 6,
        "partitions for the rate": 4,
        "partitions for consumers": 6,
        "partitions": 6,
    }
    assert (plan.brokers, plan.partitions, plan.warnings) == (6, 6, [])


def test_warnings() -> None:
    demand = Demand(write_bytes_s=1000 * MB, consumers=2, headroom=1, replication=2)
    said = plan_for(demand).warnings
    assert [each.split(" ")[0] for each in said] == ["300", "a", "with"]


def test_when_a_disk_is_full() -> None:
    disk = DiskOutlook(1, used_bytes=500, total_bytes=1000, growth_bytes_s=10)
    assert (disk.seconds_until(0.6), disk.seconds_until(1.0)) == (10, 50)
    assert disk._replace(growth_bytes_s=0).seconds_until(1.0) is None
    assert disk._replace(used_bytes=700).seconds_until(0.6) == 0


@pytest.mark.parametrize(
    ("partitions", "rate", "consumers", "said"),
    [
        (12, 10 * MB, 4, ""),
        (2, 10 * MB, 1, "too few for its rate: 3 at its peak"),
        (4, 0.0, 6, "2 of 6 members have nothing to do"),
        (500, 10 * MB, 4, "far more than it needs: 8 would do"),
        (6, 0.0, 0, ""),
    ],
)
def test_partitions_of_a_topic(partitions: int, rate: float, consumers: int, said: str) -> None:
    load = TopicLoad("t", partitions, rate, consumers)
    assert advise(load, peak_factor=3, partition_bytes_s=10 * MB).verdict == said


def test_what_is_older_is_a_share_of_the_bytes() -> None:
    place = ("t", 0)
    starts, ends = {place: 100}, {place: 200}
    assert older_bytes(1000, place, starts, ends, {place: 125}) == 250
    assert older_bytes(1000, place, starts, ends, {place: -1}) == 1000
    assert older_bytes(1000, place, starts, ends, {}) == 0


def test_what_could_be_freed(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1", "-s", "retention.ms=864000000")
    producer = Producer({"bootstrap.servers": command.servers})
    now_ms = int(time.time() * 1000)
    for days in (8, 8, 8, 1):
        producer.produce(topic, b"x" * 1000, timestamp=now_ms - days * 86_400_000)
        producer.flush(30)
    (found,) = [
        each for each in command.run("log-dirs", "--free", "--json").json if each["topic"] == topic
    ]
    assert found["freeable_bytes"] == found["size_bytes"] * 3 // 4
    assert found["command"] == f"penstock configs set topic {topic} retention.ms=432000000"
    assert found["groups"] == 0
    lines = command.run("log-dirs", "--older", "9d").lines
    (row,) = [line.split() for line in lines if line.startswith(f"{topic} ")]
    assert " 0 B " in " ".join(row)
    command.run("topics", "delete", topic)


def test_a_load_that_is_described(nowhere: Command) -> None:
    said = nowhere.run("capacity", "--messages", "1000", "--size", "1K", "--json").json
    assert said["demand"]["write_bytes_s"] == 1_024_000
    assert said["brokers"] == 4
    lines = nowhere.run("capacity", "--write", "10M").lines
    assert lines[0] == "10.0 MiB/s written, read 1 times, 3 replicas"
    assert nowhere.fail("capacity", "-w", "many", code=2).startswith("--write many: expected bytes")
    assert "no broker answers" in nowhere.fail("capacity")


def test_the_running_cluster(command: Command, topic: str, tmp_path: Path) -> None:
    command.run("topics", "create", topic, "-p", "1")
    ended = threading.Event()

    def produce() -> None:
        producer = Producer({"bootstrap.servers": command.servers})
        while not ended.wait(0.02):
            producer.produce(topic, b"x" * 10_000)
            producer.flush(30)

    thread = threading.Thread(target=produce)
    thread.start()
    try:
        picture = tmp_path / "disks.svg"
        found = command.run("capacity", "--seconds", "2", "--json", "--plot", str(picture)).json
    finally:
        ended.set()
        thread.join()
    assert found["demand"]["write_bytes_s"] > 0
    assert found["demand"]["replication"] == 1
    (disk,) = found["disks"]
    assert disk["growth_bytes_s"] == pytest.approx(found["demand"]["write_bytes_s"])
    assert 0 < disk["share"] < 1
    (load,) = [each for each in found["topics"] if each["topic"] == topic]
    assert (load["partitions"], load["for_rate"], load["verdict"]) == (1, 1, "")
    assert ElementTree.fromstring(picture.read_text()).tag.endswith("svg")
