"""Reading from the nearest replica (KIP-392)."""

from __future__ import annotations

from penstock.replication.replica_selector import nearest_replica
from tests.unit.replication.replica_kit import State, World

RACKS = {1: "a", 2: "b", 3: "b", 4: "c"}


def nearest(world: World, rack: str, offset: int = 5) -> int:
    return nearest_replica(world.leader, world.brokers.get, RACKS.get, rack, offset)


def reading(**state: tuple[int, ...]) -> World:
    world = World(State().but(**state), end_offset=10)
    world.fetch(2, 8)
    world.fetch(3, 9)
    return world


def test_the_most_advanced_replica_of_the_readers_rack() -> None:
    assert nearest(reading(), "b") == 3
    assert nearest(reading(), "a") == 1
    assert nearest(reading(), "elsewhere") == 1
    assert nearest(reading(), "") == 1


def test_replicas_that_may_lag_are_never_preferred() -> None:
    """KAFKA-14372, 15390."""
    assert nearest(reading(isr=(1, 2)), "b") == 2
    world = reading()
    world.brokers[3].fenced = True
    assert nearest(world, "b") == 2
    del world.brokers[2]
    assert nearest(world, "b") == 1


def test_a_replica_has_to_hold_the_offset() -> None:
    world = reading()
    assert nearest(world, "b", 9) == 3
    assert nearest(world, "b", 10) == 1
    world.leader.on_fetch(3, 300, 9, 10, world.now_ms, log_start_offset=6)
    assert nearest(world, "b", 5) == 2
