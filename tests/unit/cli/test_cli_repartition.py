"""`penstock topics repartition`: its parts, and its whole way on one broker of each kind."""

from __future__ import annotations

import time
from collections import defaultdict

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.cli.failure import Failure
from penstock.cli.repartition.group_place import GroupPlace
from penstock.cli.repartition.job import Job, Phase, decode, encode
from penstock.cli.repartition.key_place import PARTITIONERS, find_partitioner
from penstock.cli.repartition.tally import Tally, differences
from tests.unit.cli.conftest import Command

KEYS = [b"key-%d" % each for each in range(50)]


@pytest.mark.parametrize("name", sorted(PARTITIONERS))
def test_keys_tell_how_producers_choose(name: str) -> None:
    placed = [(PARTITIONERS[name](key, 5), key) for key in KEYS]
    assert find_partitioner("t", placed, 5) == name
    with pytest.raises(Failure, match="are not where"):
        find_partitioner("t", [((partition + 1) % 5, key) for partition, key in placed], 5)


def test_keys_that_do_not_tell_are_asked_about() -> None:
    with pytest.raises(Failure, match="do not tell how"):
        find_partitioner("t", [(0, key) for key in KEYS], 1)
    assert find_partitioner("t", [], 5) == "murmur2", "without keys it does not matter"


def tally(*records: tuple[int, bytes | None, bytes | None]) -> Tally:
    found = Tally()
    for partition, key, value in records:
        found.add(partition, key, value, ())
    return found


def wrong(source: Tally, target: Tally, **how: bool) -> list[str]:
    return differences(source, target, **({"is_compacted": False, "has_lost_head": False} | how))


def test_a_copy_with_other_partitions_is_the_same() -> None:
    source = tally(
        (0, b"a", b"1"), (1, b"b", b"1"), (0, b"a", b"2"), (1, None, b"x"), (0, None, b"y")
    )
    target = tally(
        (3, None, b"y"), (2, b"b", b"1"), (1, b"a", b"1"), (1, b"a", b"2"), (0, None, b"x")
    )
    assert wrong(source, target) == []


@pytest.mark.parametrize(
    ("copied", "said"),
    [
        ([(0, b"a", b"2"), (0, b"a", b"1")], "another order"),
        ([(0, b"a", b"1")], "2 records, in the copy 1"),
        ([(0, b"a", b"1"), (0, b"a", b"1"), (0, b"a", b"2")], "2 records, in the copy 3"),
        ([(0, b"a", b"1"), (0, b"a", b"3")], "other records"),
        ([], "not in the copy"),
        ([(0, b"a", b"1"), (0, b"a", b"2"), (1, b"z", b"1")], "only in the copy"),
        ([(0, b"a", b"1"), (0, b"a", b"2"), (1, None, b"1")], "without keys"),
    ],
)
def test_what_is_wrong_with_a_copy_is_found(
    copied: list[tuple[int, bytes | None, bytes | None]], said: str
) -> None:
    (found,) = wrong(tally((0, b"a", b"1"), (0, b"a", b"2")), tally(*copied))
    assert said in found


def test_what_was_deleted_or_compacted_since_is_no_difference() -> None:
    source = tally((0, b"a", b"2"))
    assert wrong(source, tally((0, b"a", b"1"), (0, b"a", b"2")), has_lost_head=True) == []
    assert wrong(source, tally((0, b"a", b"1"), (0, b"a", b"2")), is_compacted=True) == []
    assert wrong(tally((0, b"a", None)), tally(), is_compacted=True) == []
    assert wrong(source, tally((0, b"a", b"2"), (0, b"a", b"1")), is_compacted=True) != []


def test_a_key_in_two_partitions_has_no_order_to_keep() -> None:
    source = tally((0, b"a", b"1"), (1, b"a", b"2"))
    assert wrong(source, tally((5, b"a", b"2"), (5, b"a", b"1"))) == []


def test_a_job_is_kept_whole() -> None:
    job = Job(
        "t", "t-9", 3, 9, "crc32", 17, {0: 5}, Phase.switched, {"t": None}, {0: 7}, {1: 8}, True
    )
    assert decode(encode(job)) == job


def test_groups_know_what_is_left_and_whether_they_moved() -> None:
    place = GroupPlace("g", {0: 5}, {0: 10, 1: 20}, 1)
    assert place.left({0: 7, 1: 3}) == 5
    assert not place.has_moved({0: 10, 1: 20})
    assert place.has_moved({0: 10, 1: 19})


def member(servers: str, group: str, topic: str, protocol: str) -> Consumer:
    settings = {"group.protocol": protocol} if protocol == "consumer" else {}
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"}
        | settings
    )
    consumer.subscribe([topic])
    return consumer


def read(consumer: Consumer, count: int) -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = defaultdict(list)
    deadline = time.monotonic() + 60
    while sum(map(len, found.values())) < count:
        assert time.monotonic() < deadline, found
        for record in consumer.consume(100, 0.2):
            assert record.error() is None, record.error()
            found[record.key() or b""].append(int(record.value() or b""))  # type: ignore[arg-type]
    consumer.commit(asynchronous=False)
    return found


def produce(servers: str, topic: str, numbers: range) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for number in numbers:
        for key in KEYS[:10]:
            producer.produce(topic, b"%d" % number, key, headers=[("h", b"1")])
    assert producer.flush(30) == 0


def test_a_topic_gets_fewer_partitions(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "3", "-s", "retention.ms=86400000")
    produce(command.servers, topic, range(20))
    assert "is not being repartitioned" in command.fail("topics", "repartition", topic)
    said = command.fail("topics", "repartition", topic, "-p", "3")
    assert said == f"{topic} has 3 partitions already"
    said = command.fail("topics", "repartition", topic, "-p", "2", "--to", topic)
    assert said == f"{topic} exists already; name another topic with --to"

    # One member of each protocol, alive at the switch.
    members = {
        each: member(command.servers, f"{topic}-{each}", topic, each)
        for each in ("classic", "consumer")
    }
    seen = {each: read(consumer, 200) for each, consumer in members.items()}
    copied = command.run("topics", "repartition", topic, "-p", "2", "--json").json
    assert (copied["copied"], copied["target"], copied["partitioner"]) == (
        200,
        f"{topic}-2",
        "crc32",
    )
    produce(command.servers, topic, range(20, 25))
    command.run("topics", "repartition", topic, "--switch", "--yes")
    produce(command.servers, f"{topic}-2", range(25, 30))

    assert "was not checked" in command.fail("topics", "repartition", topic, "--finish")
    checked = command.run("topics", "repartition", topic, "--check", "--json").json
    assert checked["compared"] == 250
    said = command.fail("topics", "repartition", topic, "--finish")
    waiting = f"records of {topic} are left to read for {topic}-classic, {topic}-consumer"
    assert said == f"{waiting}; --force ends it although"
    for each, consumer in members.items():
        for key, numbers in read(consumer, 50).items():
            seen[each][key] += numbers
        consumer.close()
        moved = member(command.servers, f"{topic}-{each}", f"{topic}-2", each)
        for key, numbers in read(moved, 50).items():
            seen[each][key] += numbers
        moved.close()
        assert seen[each] == {key: list(range(30)) for key in KEYS[:10]}

    command.run("topics", "repartition", topic, "--finish", "--delete-old", "--yes")
    (described,) = command.run("topics", "describe", f"{topic}-2", "--json").json
    assert len(described["partitions"]) == 2
    assert described["settings"] == {"retention.ms": "86400000"}
    assert "is not being repartitioned" in command.fail("topics", "repartition", topic)
    left = [each["group"] for each in command.run("groups", "list", "--json").json]
    assert [each for each in left if f"repartition-{topic}" in each] == []


def test_a_copy_is_called_off(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "2")
    produce(command.servers, topic, range(3))
    command.run("topics", "repartition", topic, "-p", "4")
    command.run("topics", "repartition", topic, "--back", "--yes")
    produce(command.servers, topic, range(3, 6))
    # Another one begins at the beginning.
    again = command.run("topics", "repartition", topic, "-p", "5", "--json").json
    assert again["copied"] == 60
    consumer = Consumer({"bootstrap.servers": command.servers, "group.id": f"{topic}-all"})
    consumer.assign([TopicPartition(f"{topic}-5", each, 0) for each in range(5)])
    assert read(consumer, 60) == {key: list(range(6)) for key in KEYS[:10]}
    consumer.close()
    command.run("topics", "repartition", topic, "--back", "--yes")
