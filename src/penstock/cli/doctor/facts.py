"""What is known of a cluster after two looks some seconds apart: plain values.

`reader` fills them over the protocol; the rules decide on them and ask nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from penstock.cli.doctor.head import Odd
from penstock.cli.doctor.past import Past
from penstock.cli.doctor.tail import Tail
from penstock.cli.group.state import GroupLag, Place
from penstock.cli.operator.state import ClusterState
from penstock.model.sla import Slas

SETTLED: Final = ("Stable", "Empty", "Dead", "")
"""States of a group that is not in a rebalance; an old broker tells none."""


class Controller(NamedTuple):
    is_known: bool
    """False where nobody may be asked: an old broker, or no right to."""
    leader: int | None
    reason: str = ""
    """Why there is none."""
    last_seen_ms: Mapping[int, int] = {}
    """When each node was last heard of by the quorum's leader."""


class LogDirSpace(NamedTuple):
    broker: int
    path: str
    error: str | None
    total_bytes: int | None
    """None before Kafka 3.3."""
    usable_bytes: int | None

    @property
    def used(self) -> float | None:
        """A share of the whole disk, with what others have on it."""
        if not self.total_bytes or self.usable_bytes is None:
            return None
        return 1 - self.usable_bytes / self.total_bytes


class Glance(NamedTuple):
    """A group at a moment between the looks: whether it is settled, and with whom."""

    state: str
    members: frozenset[str]

    @property
    def is_settled(self) -> bool:
        return self.state in SETTLED


@dataclass(frozen=True, slots=True)
class Look:
    now_ms: int
    state: ClusterState
    controller: Controller
    lags: tuple[GroupLag, ...]
    min_isr: Mapping[str, int] = field(default_factory=dict)
    dirs: tuple[LogDirSpace, ...] = ()
    silent: tuple[int, ...] = ()
    """Brokers that are registered, and did not answer."""
    unread: tuple[str, ...] = ()
    """Groups that could not be asked for."""
    gaps: tuple[str, ...] = ()
    """Why there may be groups that are not even known by name."""


@dataclass(frozen=True, slots=True)
class Facts:
    before: Look
    after: Look
    slas: Slas = field(default_factory=dict)
    glances: Mapping[str, tuple[Glance, ...]] = field(default_factory=dict)
    """By group, in order."""
    rebalances: Mapping[str, int] = field(default_factory=dict)
    """By group, between the looks, where a broker's metrics were read."""
    past: Past | None = None
    """None where it is not kept."""
    tails: Mapping[str, Tail] = field(default_factory=dict)
    """Of topics to which more is written than before."""
    odd: Mapping[Place, Odd] = field(default_factory=dict)
    """By partition that stands still: a record there that is unlike the others."""

    @property
    def passed_s(self) -> float:
        return max(self.after.now_ms - self.before.now_ms, 1) / 1000
