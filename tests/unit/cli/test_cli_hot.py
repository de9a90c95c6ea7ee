"""`penstock hot`: hot spots and their remedies, by facts, and of a cluster under load."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Producer

from penstock.cli.cluster import Cluster
from penstock.cli.group.reader import ClusterReader
from penstock.cli.hot.facts import HotFacts, KeySample, KeyShare, PartitionRate
from penstock.cli.hot.judge import Spot, broker_heat, find_spots
from penstock.cli.hot.key_tally import tally
from penstock.cli.hot.producer_rate import rates
from penstock.cli.hot.reader import read_facts
from penstock.cli.hot.words import key_name
from penstock.cli.operator.link import Link
from penstock.cli.operator.state import PartitionReplicas, TopicPartition
from penstock.cli.profile import Target
from penstock.cli.quota_top import Usage
from penstock.node.address import Address
from penstock.records.record import Record
from tests.node.node_kit import running
from tests.patience import wait_until
from tests.unit.cli.cluster_kit import brokers, cluster, partition
from tests.unit.cli.conftest import Command

MIB = 1 << 20


def facts(
    held: Sequence[tuple[PartitionReplicas, float]],
    *,
    count: int = 3,
    samples: Sequence[KeySample] = (),
    clients: tuple[Usage, ...] | None = None,
) -> HotFacts:
    state = cluster(brokers(dict.fromkeys(range(1, count + 1))), *(each for each, _ in held))
    rates = [PartitionRate(each.place, each.leader, rate / 100, rate) for each, rate in held]
    rates.sort(key=lambda each: -each.bytes_s)
    by_place = {each.place: each for each in samples}
    return HotFacts(state, tuple(rates), by_place, clients=clients)


def sample(place: str, *shares: float) -> KeySample:
    topic, _, number = place.partition(":")
    keys = tuple(KeyShare(b"k%d" % at, 10, share) for at, share in enumerate(shares))
    return KeySample(TopicPartition(topic, int(number)), 100, keys)


def commands(spots: Sequence[Spot], kind: str) -> list[str]:
    return [one.do for each in spots if each.kind == kind for one in each.remedies]


def test_an_even_cluster_has_no_hot_spot() -> None:
    held = [(partition(f"t:{each}", (each % 3 + 1,)), MIB) for each in range(6)]
    assert find_spots(facts(held)) == []
    assert [each.times for each in broker_heat(facts(held))] == [1.0, 1.0, 1.0]


def test_leaders_that_belong_elsewhere_are_elected_first() -> None:
    held = [
        (partition("t:0", (1, 2), leader=1), MIB),
        (partition("t:1", (2, 1), leader=1), 10 * MIB),
        (partition("t:2", (3, 1), leader=1), 10 * MIB),
    ]
    done = commands(find_spots(facts(held)), "broker")
    assert done == ["penstock leaders elect t:1 t:2"]


def test_then_the_busiest_partition_moves_where_there_is_less_to_do() -> None:
    held = [(partition(f"t:{each}", (1, 2)), MIB) for each in range(4)]
    held.append((partition("u:0", (2, 3)), 100_000.0))
    first = commands(find_spots(facts(held)), "broker")[0]
    assert first.startswith("penstock partitions move t:0 --to 3,2 --throttle")


def test_a_replica_on_a_cool_broker_leads_without_a_copy() -> None:
    held = [(partition(f"t:{each}", (1, 3)), MIB) for each in range(4)]
    held.append((partition("u:0", (2, 3)), 100_000.0))
    first = commands(find_spots(facts(held)), "broker")[0]
    assert "t:0 --to 3,1 " in first


def test_a_partition_that_is_its_brokers_load_is_judged_by_its_keys() -> None:
    """A move would take the heat along."""
    held = [
        (partition(f"t:{each}", (each + 1,)), (MIB if each == 0 else 2000.0)) for each in range(3)
    ]
    spots = find_spots(facts(held, samples=[sample("t:0", 0.7, 0.1)]))
    assert [each.kind for each in spots] == ["broker", "partition"]
    for kind in ("broker", "partition"):
        assert commands(spots, kind)[0].startswith("in the producer: key = ")
        assert "k0" in commands(spots, kind)[0]
    # Without a key that stands out, more partitions part them.
    even = find_spots(facts(held, samples=[sample("t:0", 0.1, 0.1)]))
    assert commands(even, "partition") == ["penstock topics repartition t --partitions 6"]


def test_a_client_that_sends_more_than_all_others_is_contained() -> None:
    held = [(partition(f"t:{each}", (each % 3 + 1,)), MIB) for each in range(3)]
    loud = Usage("ANONYMOUS", "loud", 9.0 * MIB, 0.0, None, None, 0.0)
    quiet = Usage("ANONYMOUS", "quiet", 1.0 * MIB, 0.0, None, None, 0.0)
    (spot,) = find_spots(facts(held, clients=(loud, quiet)))
    assert spot.remedies[0].do.startswith("penstock quotas set --client loud producer_byte_rate=")


def test_producers_are_counted_by_their_numbers() -> None:
    place = TopicPartition("t", 0)
    before = {(place, 1): (0, 9), (place, 2): (0, (1 << 31) - 2), (place, 3): (0, 5)}
    after = {(place, 1): (0, 29), (place, 2): (0, 3), (place, 3): (1, 1), (place, 4): (0, 0)}
    found = {each.producer_id: each.records_s for each in rates(before, after, 2.0)}
    assert found == {1: 10.0, 2: 2.5, 3: 1.0, 4: 0.5}


def test_keys_are_counted_by_their_bytes() -> None:
    records = [
        Record(0, 0, b"a", b"x" * 89),
        Record(1, 0, b"b", b"x" * 4),
        Record(2, 0, b"b", b"x" * 4),
    ]
    found = tally(TopicPartition("t", 0), records)
    assert [(each.key, each.records, each.share) for each in found.keys] == [
        (b"a", 1, 0.9),
        (b"b", 2, 0.1),
    ]
    assert [key_name(each) for each in (None, b"\xff\x00", b"caf\xc3\xa9")] == [
        "(no key)",
        "0xff00",
        "café",
    ]


def test_a_hot_key_of_a_running_cluster(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "3")
    stop = threading.Event()

    def load() -> None:
        settings = {"bootstrap.servers": command.servers, "enable.idempotence": True}
        producer = Producer(settings | {"linger.ms": 5})
        number = 0
        while not stop.is_set():
            # Nine of ten records are of one key, on one partition.
            number += 1
            where = 0 if number % 10 else number // 10 % 3
            key = b"celebrity" if number % 10 else b"k%d" % number
            producer.produce(topic, b"x" * 500, key, partition=where)
            producer.poll(0.001)
        producer.flush(10)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        found = command.run("hot", "-t", topic, "--seconds", "2", "--json").json
        shown = command.run("hot", "-t", topic, "--seconds", "1").lines
    finally:
        stop.set()
        thread.join()
    busiest = found["partitions"][0]
    assert busiest["place"] == f"{topic}:0"
    assert busiest["bytes_s"] > 10 * found["partitions"][1]["bytes_s"]
    keys = next(each for each in found["keys"] if each["partition"] == f"{topic}:0")["keys"]
    assert keys[0]["key"] == "celebrity"
    assert keys[0]["share"] > 0.8
    assert found["clients"] is None
    # One producer writes to all three partitions, most to the hot one.
    assert len({each["producer_id"] for each in found["producers"]}) == 1
    assert found["producers"][0]["place"] == f"{topic}:0"
    (spot,) = [each for each in found["hot"] if each["kind"] == "partition"]
    assert spot["what"] == f"{topic}:0"
    assert "celebrity" in spot["remedies"][0]["do"]
    assert any(line.startswith(f"HOT  {topic}:0") for line in shown)
    assert any(line.startswith("clients by name: unknown") for line in shown)
    assert "no topic nowhere" in command.fail("hot", "-t", "nowhere", "--seconds", "1")


def test_a_loud_client_is_told_by_metrics(tmp_path: Path) -> None:
    stop = threading.Event()

    def load(servers: str, client: str, size: int) -> None:
        producer = Producer({"bootstrap.servers": servers, "client.id": client})
        while not stop.wait(0.01):
            producer.produce("t", b"x" * size)
            producer.flush(10)

    with running(tmp_path / "data", metrics=Address("127.0.0.1", 0)) as node:
        clients = [("loud", 20_000), ("quiet", 500)]
        threads = [threading.Thread(target=load, args=(node.address, *each)) for each in clients]
        for thread in threads:
            thread.start()
        try:
            link = Link(Cluster(Target(node.address)))
            wait_until(lambda: "t" in ClusterReader(link).topics)
            found = read_facts(link, 2.0, ["t"], [str(node.node.metrics_address)])
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    assert found.clients is not None
    assert {"loud", "quiet"} <= {each.client_id for each in found.clients}
    (spot,) = [each for each in find_spots(found) if each.kind == "client"]
    assert spot.what.startswith("client loud of ")
