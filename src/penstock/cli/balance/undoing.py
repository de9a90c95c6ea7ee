"""What takes a balance back, from what the cluster looks like now. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from penstock.cli.operator.plan import Move
from penstock.cli.operator.state import ClusterState, TopicPartition


class Undoing(NamedTuple):
    moves: list[Move]
    left: list[TopicPartition]
    """Moved by somebody else since then, or their former brokers are not there."""


def plan_undo(state: ClusterState, done: Iterable[Move]) -> Undoing:
    found = Undoing([], [])
    for each in sorted(done):
        partition = state.partitions.get(each.place)
        # A topic that is gone, and a replica that is back, need nothing.
        if partition is None or partition.target == each.before:
            continue
        if partition.target == each.after and set(each.before) <= set(state.open_brokers):
            found.moves.append(Move(each.place, partition.target, each.before))
        else:
            found.left.append(each.place)
    return found
