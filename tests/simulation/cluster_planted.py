"""Nodes that break one rule each: a run has to notice every one of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import NamedTuple

from penstock.replication import context, fetcher
from penstock.replication.isr_change import IsrChange
from penstock.replication.leader import Leader
from tests.simulation.cluster_checker import replaced
from tests.simulation.replica_planted import (
    FollowerBeforeFlush,
    FollowerCutAtWatermark,
    LeaderWithoutMinIsr,
)


class LeaderByItself(Leader):
    """Leaves followers out without the controller, which may have another leader by then."""

    __slots__ = ()

    def shrink(self, log_end_offset: int, own_epoch: int, now_ms: int) -> IsrChange | None:
        change = super().shrink(log_end_offset, own_epoch, now_ms)
        if change is not None:
            self._commit(self.partition_epoch, change.replica_ids, change.leader_recovery_state)
        return None


class Plant(NamedTuple):
    places: list[tuple[ModuleType | type, str, object]]
    faults: tuple[str, ...]
    """Those of a run that bring it to light."""


PLANTED = {
    "min ISR ignored": Plant(
        [(context, "Leader", LeaderWithoutMinIsr)], ("cut off", "split", "kill")
    ),
    "truncation by high watermark": Plant(
        [(fetcher, "Follower", FollowerCutAtWatermark)], ("kill", "pause")
    ),
    "acknowledged before the follower's flush": Plant(
        [
            (fetcher, "Follower", FollowerBeforeFlush),
            (fetcher.Fetcher, "_wait_safe", lambda *_: None),
        ],
        ("slow disk", "crash seen"),
    ),
    "an unfenced old leader": Plant([(context, "Leader", LeaderByItself)], ("cut off", "split")),
}


@contextmanager
def planted(name: str) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, attribute, other in PLANTED[name].places:
            stack.enter_context(replaced(owner, attribute, other))
        yield
