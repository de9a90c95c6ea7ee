"""When a replica with a damaged batch may drop it and fetch it again from others.

Only a replica that nobody counts on may be cut: not in sync, not eligible to lead, and with a
leader elsewhere. To become that, it says that its directory is lost (KIP-858): in one step the
controller takes it out of the in-sync set and has another lead, and lets it in again only after
it has said where it is. A replica that the others cannot do without stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from penstock.model.directory_id import LOST

NO_LEADER = -1


class Step(Enum):
    WAIT = "the others cannot do without it"
    LEAVE = "say that it is lost"
    RETURN = "it is wanted after all: say where it is"
    CUT = "nobody counts on it: cut it, and say where it is"
    FORGET = "it is no replica of this node any more"


class Replicas(Protocol):
    """What metadata says of a partition, as `metadata.partition.PartitionImage` does."""

    @property
    def leader(self) -> int: ...
    @property
    def replicas(self) -> Sequence[int]: ...
    @property
    def isr(self) -> Sequence[int]: ...
    @property
    def elr(self) -> Sequence[int]: ...
    @property
    def directories(self) -> Sequence[bytes]: ...


def next_step(node_id: int, state: Replicas | None, min_isr: int) -> Step:
    if state is None or node_id not in state.replicas:
        return Step.FORGET
    held = state.directories
    is_lost = bool(held) and held[state.replicas.index(node_id)] == LOST
    is_counted_on = node_id in state.isr or node_id in state.elr
    if not is_counted_on and state.leader not in (NO_LEADER, node_id):
        return Step.CUT if is_lost else Step.LEAVE
    if is_lost:
        return Step.RETURN
    if node_id not in state.isr:
        return Step.WAIT
    others = sum(one != node_id for one in state.isr)
    # A leader gives way to anybody: followers could fetch nothing from it at that place. Else there
    # have to be enough others: it would be eligible to lead, and could not be cut.
    needed = 1 if state.leader == node_id else max(1, min(min_isr, len(state.replicas)))
    return Step.LEAVE if others >= needed else Step.WAIT
