"""The plan of a balance: few moves, after which brokers are within the band. Pure.

In this order, and nothing that comes later spoils what came before: racks, bytes, numbers of
replicas, leaders.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from penstock.cli.balance.band import byte_band, count_band
from penstock.cli.balance.layout import Layout
from penstock.cli.balance.leader_step import spread_leaders
from penstock.cli.balance.replica_step import Step, step_by_bytes, step_by_count
from penstock.cli.balance.replica_swap import swap_by_bytes
from penstock.cli.operator.plan import Move
from penstock.cli.operator.state import ClusterState, TopicPartition

WITHIN = 0.1


class BrokerLoad(NamedTuple):
    broker: int
    rack: str | None
    bytes: int
    replicas: int
    leaders: int


class BalancePlan(NamedTuple):
    moves: list[Move]
    elections: list[TopicPartition]
    """Whose leader, once all is moved, is not the preferred one."""
    before: list[BrokerLoad]
    after: list[BrokerLoad]
    frozen: int
    """Partitions that nothing is planned for: being moved, or not whole."""


def plan_balance(
    state: ClusterState, within: float = WITHIN, room: Mapping[int, int] | None = None
) -> BalancePlan:
    """`room`: bytes that a broker's disk may still take, where it is known."""
    layout = Layout(state, room)
    before = _loads(layout, actual=True)
    if layout.brokers:
        while _spread_replicas(layout, within):
            pass
        spread_leaders(layout)
    moves = list(layout.moves())
    elections = [place for place in layout.movable if _leads_otherwise(layout, place)]
    frozen = len(state.partitions) - len(layout.movable)
    return BalancePlan(moves, elections, before, _loads(layout, actual=False), frozen)


def _spread_replicas(layout: Layout, within: float) -> int:
    """One round over all goals: how many steps it took. What numbers moved may help bytes."""
    bytes_band = byte_band(layout.bytes, layout.brokers, within)
    counts_band = count_band(layout.counts, layout.brokers, within)
    steps = 0
    while step := _step_by_rack(layout):
        steps += _take(layout, step)
    while step := step_by_bytes(layout, bytes_band):
        steps += _take(layout, step)
    while swap := swap_by_bytes(layout, bytes_band):
        steps += sum(_take(layout, each) for each in swap)
    while step := step_by_count(layout, counts_band, bytes_band):
        steps += _take(layout, step)
    return steps


def _take(layout: Layout, step: Step) -> int:
    layout.move(*step)
    return 1


def _step_by_rack(layout: Layout) -> Step | None:
    lost = (place for place in layout.movable if layout.lost_racks(place))
    steps = (_to_free_rack(layout, place) for place in lost)
    return next((step for step in steps if step is not None), None)


def _to_free_rack(layout: Layout, place: TopicPartition) -> Step | None:
    """From the rack with two of its replicas, off the broker with the most bytes."""
    rack, held = layout.state.rack, layout.replicas[place]
    racks = [rack(each) for each in held]
    crowded = [each for each in held if racks.count(rack(each)) > 1]
    free = [
        each for each in layout.brokers if rack(each) not in racks and layout.has_room(place, each)
    ]
    if not free:
        return None

    def burden(broker: int) -> tuple[int, int, int]:
        return layout.bytes[broker], layout.counts[broker], broker

    return Step(place, max(crowded, key=burden), min(free, key=burden))


def _leads_otherwise(layout: Layout, place: TopicPartition) -> bool:
    """A leader that has to go is replaced without being asked for."""
    leader, after = layout.state.partitions[place].leader, layout.replicas[place]
    return leader in after[1:]


def _loads(layout: Layout, *, actual: bool) -> list[BrokerLoad]:
    """Leaders as they are, or as they are preferred."""
    partitions = layout.state.partitions
    leads = [
        partitions[place].leader if actual else replicas[0]
        for place, replicas in layout.replicas.items()
    ]
    return [
        BrokerLoad(
            each,
            layout.state.rack(each),
            layout.bytes[each],
            layout.counts[each],
            leads.count(each),
        )
        for each in layout.brokers
    ]
