"""A finding: what is wrong, why, and what to do. Values, and the advice that many share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final, NamedTuple


class Level(IntEnum):
    """In the order of the page."""

    broker = 0
    limit = 1
    """A group over its limit."""
    behind = 2
    """A group without a limit that is behind, and no better by itself."""
    note = 3
    """Nothing is to be done."""


class Cause(StrEnum):
    no_controller = "no-controller"
    broker_down = "broker-down"
    broker_silent = "broker-silent"
    coordinator_silent = "coordinator-silent"
    partition_offline = "partition-offline"
    under_min_isr = "under-min-isr"
    under_replicated = "under-replicated"
    dir_failed = "dir-failed"
    disk_full = "disk-full"
    loop_busy = "loop-busy"
    flush_slow = "flush-slow"
    broker_slow = "broker-slow"
    shared_downstream = "shared-downstream"
    no_members = "no-members"
    rebalance_loop = "rebalance-loop"
    unassigned = "unassigned"
    stuck = "stuck"
    catching_up = "catching-up"
    skew = "skew"
    throttled = "throttled"
    producer_surge = "producer-surge"
    slow_consumer = "slow-consumer"
    grew_over_days = "grew-over-days"
    partition_cap = "partition-cap"
    too_slow = "too-slow"
    unknown = "unknown"


class Advice(NamedTuple):
    do: str
    """A command where there is one."""
    why: str


@dataclass(frozen=True, slots=True)
class Finding:
    level: Level
    cause: Cause
    what: str
    why: str
    evidence: tuple[str, ...] = ()
    first: tuple[Advice, ...] = ()
    avoid: tuple[Advice, ...] = ()
    since_ms: int | None = None
    group: str | None = None
    topic: str | None = None


RESTART_ALL: Final = Advice(
    "restart all consumers",
    "each start is a rebalance in which nobody reads, what was not committed is read again, and "
    "the cause is still there",
)
ADD_PARTITIONS: Final = Advice(
    "add partitions now",
    "keys move to other partitions and lose their order, and what waits stays where it is",
)
MORE_MEMBERS: Final = Advice(
    "start more members than partitions",
    "a partition has one reader: the others would do nothing",
)
RESTART_BROKERS: Final = Advice(
    "restart brokers",
    "replicas are missing: the next broker that goes may take the last one in sync with it",
)
TO_END: Final = Advice(
    "reset the group to the end", "every record that waits is skipped, also the good ones"
)
