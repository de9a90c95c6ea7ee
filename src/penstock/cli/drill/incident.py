"""What can go wrong in a drill: how it begins, what the doctor calls it, and what ends it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Final

from penstock.cli.doctor.finding import Cause
from penstock.cli.drill.feed import Manner
from penstock.cli.drill.stage import PARTITIONS, RATE, WORK_S, Service, Stage

Run = Callable[..., None]
"""Runs a command of `penstock` against the cluster."""


class Incident(ABC):
    """One of a stage. What it is about is called `victim`, and by operators `culprit`."""

    name: ClassVar[str]
    cause: ClassVar[Cause]
    victim: ClassVar[str] = "billing"
    culprit: ClassVar[str] = "billing"
    services: ClassVar[tuple[str, ...]] = ("billing",)
    """Those without which it does not show."""
    answer: ClassVar[str]
    """What it was, for afterwards."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    @property
    def service(self) -> Service:
        return self.stage.services[self.victim]

    def prepare(self) -> None:
        """What is otherwise than usual from the beginning."""
        self.service.size = 1

    @abstractmethod
    def begin(self, run: Run) -> None: ...

    def repair(self, run: Run) -> None:
        """What its owner does about it, once told."""
        self.service.conduct.work_s = WORK_S
        self.service.conduct.crash_s = None

    def contain(self, run: Run) -> None:
        """What an operator can do without its owner; by default, tell them."""
        self.repair(run)


class _Surge(Incident):
    cause = Cause.producer_surge
    manner: ClassVar[Manner]

    @property
    def client_id(self) -> str:
        return f"{self.service.topic}-{self.culprit}"

    def begin(self, run: Run) -> None:
        self.stage.feed(self.service, self.client_id, replace(self.manner))

    def repair(self, run: Run) -> None:
        self.service.feeds[self.client_id].end()

    def contain(self, run: Run) -> None:
        run("quotas", "set", "--client", self.client_id, "producer_byte_rate=1K")


class Loop(_Surge):
    name = "loop"
    culprit = "retries"
    manner = Manner(8 * RATE, is_loop=True)
    answer = "a client wrote the same record again and again (producer-surge, a loop)"


class Backfill(_Surge):
    name = "backfill"
    culprit = "import"
    manner = Manner(8 * RATE, is_backfill=True)
    answer = "a client wrote records of days ago into the topic (producer-surge, a backfill)"


class SlowConsumer(Incident):
    name = "slow-consumer"
    cause = Cause.slow_consumer
    answer = "its consumers had become slower, and nothing else had changed (slow-consumer)"

    def begin(self, run: Run) -> None:
        self.service.conduct.work_s = 40 * WORK_S


class Poison(Incident):
    name = "poison"
    cause = Cause.stuck
    victim = culprit = "mailer"
    services = ("mailer",)
    answer = "one record could not be dealt with, and was tried again and again (stuck)"

    def begin(self, run: Run) -> None:
        next(iter(self.service.feeds.values())).poison()

    def repair(self, run: Run) -> None:
        """Nobody mends a consumer for one record in the night: it is skipped."""
        self.contain(run)

    def contain(self, run: Run) -> None:
        place = f"{self.service.topic}:0"
        reset = ("groups", "reset", self.service.name, "-t", place, "--shift", "1")
        run(*reset, "--stop-members", "--yes")


class RebalanceLoop(Incident):
    name = "rebalance-loop"
    cause = Cause.rebalance_loop
    answer = "members crashed and came back, and the group rebalanced again and again"

    def begin(self, run: Run) -> None:
        self.service.conduct.crash_s = 1.0
        self.service.conduct.work_s = 40 * WORK_S


class Skew(Incident):
    """As much is written as before, and most of it has one key."""

    name = "skew"
    cause = Cause.skew
    answer = "most records had one key, and one member got them all (skew)"

    def prepare(self) -> None:
        self.service.conduct.work_s = 2.5 * WORK_S
        self.service.rate = 3 * RATE
        self.service.size = PARTITIONS

    def begin(self, run: Run) -> None:
        for each in self.service.feeds.values():
            each.manner.hot_share = 0.98

    def repair(self, run: Run) -> None:
        for each in self.service.feeds.values():
            each.manner.hot_share = 0.0


class NoMembers(Incident):
    name = "no-members"
    cause = Cause.no_members
    victim = culprit = "mailer"
    services = ("mailer",)
    answer = "the consumers had ended, and nobody read (no-members)"

    def begin(self, run: Run) -> None:
        self.stage.end_members(self.service)

    def repair(self, run: Run) -> None:
        self.stage.add_members(self.service, 1)


class SharedDownstream(Incident):
    name = "shared-downstream"
    cause = Cause.shared_downstream
    culprit = "downstream"
    services = ("billing", "mailer")
    answer = "what all services call had become slow (shared-downstream)"

    def begin(self, run: Run) -> None:
        self.stage.downstream_s = 60 * WORK_S

    def repair(self, run: Run) -> None:
        self.stage.downstream_s = 0.0


class PartitionCap(Incident):
    """From its beginning: there is no time in which it kept up."""

    name = "partition-cap"
    cause = Cause.partition_cap
    answer = "every partition had a member of its own, and they were too slow (partition-cap)"

    def prepare(self) -> None:
        self.service.conduct.work_s = 20 * WORK_S
        self.service.rate = 2 * RATE
        self.service.size = PARTITIONS

    def begin(self, run: Run) -> None:
        """It is there already."""


class Throttled(Incident):
    name = "throttled"
    cause = Cause.throttled
    culprit = "quota"
    answer = "a quota held its consumers back (throttled)"

    def begin(self, run: Run) -> None:
        for each in self.service.members:
            run("quotas", "set", "--client", each.name, "consumer_byte_rate=1500")

    def repair(self, run: Run) -> None:
        for each in self.service.members:
            run("quotas", "unset", "--client", each.name)


INCIDENTS: Final[dict[str, type[Incident]]] = {
    each.name: each
    for each in (
        Loop,
        Backfill,
        SlowConsumer,
        Poison,
        RebalanceLoop,
        Skew,
        NoMembers,
        SharedDownstream,
        PartitionCap,
        Throttled,
    )
}
