"""Throttles of moves, and how long they still take."""

from __future__ import annotations

import pytest

from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.operator.estimate import MoveEstimate, Reading, show_duration
from penstock.cli.operator.place import find_partitions, parse_brokers, parse_place
from penstock.cli.operator.plan import Move
from penstock.cli.operator.reader import ReplicaChange, _partitions
from penstock.cli.operator.setting import Change
from penstock.cli.operator.state import TopicPartition, name_some
from penstock.cli.operator.throttle import parse_rate, throttle_changes
from penstock.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.unit.cli.cluster_kit import brokers, cluster, partition

PLACE, OTHER = TopicPartition("t", 0), TopicPartition("u", 3)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("50M", 50 << 20),
        ("1.5K", 1536),
        ("2g", 2 << 30),
        ("10MiB/s", 10 << 20),
        ("700", 700),
        ("none", None),
    ],
)
def test_rates(text: str, rate: int | None) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize("text", ["", "0", "-5", "fast", "5T", "1e9", "٣"])
def test_no_rates(text: str) -> None:
    with pytest.raises(UsageFailure, match="--throttle takes bytes a second"):
        parse_rate(text)


def test_a_throttle_as_kafka_reassign_partitions_sets_it() -> None:
    moves = [
        Move(PLACE, (1, 2), (3, 2)),
        Move(OTHER, (1, 2), (2, 1)),
        Move(TopicPartition("t", 1), (1, 2), (1,)),
    ]
    assert throttle_changes(moves, 1000) == [
        *[
            Change(broker, f"{side}.replication.throttled.rate", "1000")
            for broker in (1, 2, 3)
            for side in ("leader", "follower")
        ],
        Change("t", "leader.replication.throttled.replicas", "0:1,0:2"),
        Change("t", "follower.replication.throttled.replicas", "0:3"),
    ]


def test_a_move_is_as_the_controller_has_it() -> None:
    """Though the broker that described the partition has not heard of it yet."""
    described = MetadataResponsePartition(
        partition_index=0, leader_id=1, replica_nodes=[1, 2], isr_nodes=[1, 2]
    )
    topic = MetadataResponseTopic(name="t", partitions=[described])
    moves = {PLACE: ReplicaChange((2, 3, 1), (3,), (1,))}
    found = _partitions(MetadataResponse(topics=[topic]), moves)[PLACE]
    assert (found.replicas, found.target, found.lagging) == ((2, 3, 1), (2, 3), ())


def reading(*copies: tuple[TopicPartition, int, int, int]) -> Reading:
    return Reading(
        copied={(place, broker): have for place, broker, have, _ in copies},
        wanted={(place, broker): wanted for place, broker, _, wanted in copies},
    )


def test_time_left() -> None:
    estimate = MoveEstimate(2, 100.0)
    estimate.update(0, reading((PLACE, 3, 0, 1000), (OTHER, 3, 500, 3500)), 100.0)
    assert (estimate.bytes_left, estimate.seconds_left) == (4000, None)
    estimate.update(0, reading((PLACE, 3, 400, 1000), (OTHER, 3, 1100, 3500)), 110.0)
    assert (estimate.rate_bytes_s, estimate.seconds_left) == (100.0, 30.0)
    # One is whole: the rest of it counts as copied.
    estimate.update(1, reading((OTHER, 3, 1500, 3500)), 120.0)
    assert (estimate.rate_bytes_s, estimate.seconds_left) == (100.0, 20.0)
    estimate.update(2, reading(), 130.0)
    assert estimate.seconds_left == 0.0


def test_the_rate_is_that_of_the_last_half_minute() -> None:
    estimate = MoveEstimate(1, 0.0)
    for second in range(100):
        estimate.update(0, reading((PLACE, 3, 1000 * second, 10**6)), float(second))
    for second in range(100, 140):
        estimate.update(0, reading((PLACE, 3, 99_000, 10**6)), float(second))
    assert estimate.rate_bytes_s == 0.0
    assert estimate.seconds_left is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.6, "1 min"),
        (70, "1 min 10 s"),
        (3600, "1 h"),
        (3700, "1 h 1 min"),
        (180_000, "2 d 2 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert show_duration(seconds) == text


def test_places_as_typed() -> None:
    state = cluster(brokers({1: None}), partition("t:0", (1,)), partition("t:1", (1,)))
    assert parse_place("t") == ("t", None)
    assert [str(each) for each in find_partitions(state, ["t:1", "t"])] == ["t:1", "t:0"]
    for wrong in ("", ":1", "t:", "t:x", "t:-1", "t:1:2"):
        with pytest.raises(UsageFailure, match="a partition is TOPIC:NUMBER"):
            parse_place(wrong)
    with pytest.raises(Failure, match="there is no partition t:2; t has 2 partitions"):
        find_partitions(state, ["t:2"])
    with pytest.raises(Failure, match="there is no topic u"):
        find_partitions(state, ["u"])


def test_brokers_as_typed() -> None:
    assert parse_brokers("1, 2,3", "--to") == [1, 2, 3]
    for wrong in ("", "1,", "1 2", "a", "-1"):
        with pytest.raises(UsageFailure, match="--to takes ids of brokers"):
            parse_brokers(wrong, "--to")


def test_long_lists_stay_short() -> None:
    assert name_some(range(3)) == "0, 1, 2"
    assert name_some(range(9)) == "0, 1, 2 and 6 more"
