"""What must hold in a replicated partition at every step, whatever fails.

Watches from outside: every watermark that moves, every leader that takes over, every in-sync set.
Whatever stood below some watermark could be read by a consumer, so that no leader may ever lack it
or have something else there. Only an election that was allowed to lose records begins anew.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.simulation.replica_controller_model import Image
from tests.simulation.replica_log_model import Batch, SimulatedLog, encode_value

NEVER = 1 << 62


class Violation(AssertionError):
    pass


class ReplicaChecker:
    def __init__(self, logs: dict[int, SimulatedLog], *, flushes: bool) -> None:
        self.logs = logs
        self.flushes = flushes
        self.exposed: dict[int, Batch] = {}
        self.exposed_in: dict[int, int] = {}
        """The leader epoch in which the batch at that offset was first to be read."""
        self.exposed_end = 0
        self.acked: dict[int, int] = {}
        self.deleted_to = 0
        self.reset_epoch = -1
        self.uncertain: dict[int, int] = {}
        """Broker -> epoch in which it stopped uncleanly: it may have lost something since then,
        until it joins the in-sync set with a later epoch."""
        self.image: Callable[[], Image]
        self.latest_seen = 0

    def is_past(self, leader_epoch: int) -> bool:
        """Whether an election that was allowed to lose records made this epoch one of the past."""
        return leader_epoch < max(self.reset_epoch, self.image().unclean_epoch)

    # Watermarks

    def on_watermark(self, log: SimulatedLog, leader_epoch: int, before: int) -> None:
        if self.is_past(leader_epoch):
            return
        for batch in log.read(before, log.high_watermark, NEVER):
            if batch.end > log.high_watermark:
                raise Violation(f"watermark {log.high_watermark} within a batch {batch[:3]}")
            known = self.exposed.setdefault(batch.base, batch)
            self.exposed_in.setdefault(batch.base, leader_epoch)
            if known != batch:
                raise Violation(f"readers saw {known[:3]}, and now {batch[:3]}")
        if log.high_watermark > self.exposed_end:
            self.exposed_end = log.high_watermark
            self.check_in_sync()

    def on_acked(self, values: list[int], offset: int, leader_epoch: int) -> None:
        if not self.is_past(leader_epoch):
            for value in values:
                self.acked[value] = offset

    def on_latest(self, offset: int) -> None:
        """What a consumer that knows the newest leader is told as the latest offset."""
        if offset < self.latest_seen:
            raise Violation(f"the latest offset went from {self.latest_seen} back to {offset}")
        self.latest_seen = offset

    # Leaders

    def on_leader(self, broker_id: int, leader_epoch: int) -> None:
        log = self.logs[broker_id]
        allowed = self.image().unclean_epoch
        if self.reset_epoch < allowed <= leader_epoch:
            self._begin_anew(log, allowed)
        elif not self.is_past(leader_epoch):
            self._check_complete(log, f"leader {broker_id} of epoch {leader_epoch}", leader_epoch)

    def _begin_anew(self, log: SimulatedLog, epoch: int) -> None:
        self.reset_epoch = epoch
        held = {batch.base: batch for batch in log.batches}
        lost = [base for base, batch in self.exposed.items() if held.get(base) != batch]
        lost = [base for base in lost if base >= log.log_start_offset]
        cut = min(lost, default=self.exposed_end)
        self.exposed = {base: batch for base, batch in self.exposed.items() if base < cut}
        self.exposed_in = {base: epoch for base, epoch in self.exposed_in.items() if base < cut}
        self.exposed_end = min(cut, log.end_offset)
        self.acked = {value: at for value, at in self.acked.items() if at < cut}
        self.latest_seen = 0

    def _check_complete(self, log: SimulatedLog, who: str, leader_epoch: int) -> None:
        """One that hears late of its election need not have what others committed after it."""
        held = {batch.base: batch for batch in log.batches}
        for base, batch in self.exposed.items():
            if self.exposed_in[base] > leader_epoch or batch.end <= log.log_start_offset:
                continue
            if held.get(base) != batch:
                raise Violation(f"{who} lacks {batch[:3]}, which readers saw")

    # In-sync sets

    def on_image(self, before: Image, after: Image) -> None:
        for one in set(after.partition.isr) - set(before.partition.isr):
            if after.brokers[one].epoch > self.uncertain.get(one, NEVER):
                del self.uncertain[one]
        self.check_in_sync()

    def check_in_sync(self) -> None:
        image = self.image()
        if image.unclean_epoch > self.reset_epoch:
            return
        for member in image.partition.isr:
            log = self.logs[member]
            if not self.flushes and member in self.uncertain:
                continue
            end = log.durable_offset if self.flushes else log.end_offset
            if end < self.exposed_end:
                raise Violation(f"{member} is in sync with {end}, readers saw {self.exposed_end}")
            last = log.read(self.exposed_end - 1, self.exposed_end, 1)
            for batch in last:
                if self.exposed.get(batch.base, batch) != batch:
                    raise Violation(f"{member} is in sync with other records: {batch[:3]}")

    # The end

    def check_end(self, leader_id: int) -> None:
        """All is healed: the logs are one and the same, and hold what was acknowledged."""
        leader = self.logs[leader_id]
        self._check_complete(leader, f"the last leader {leader_id}", NEVER)
        start = max(log.log_start_offset for log in self.logs.values())
        expected = [batch for batch in leader.batches if batch.end > start]
        for broker_id, log in self.logs.items():
            if [batch for batch in log.batches if batch.end > start] != expected:
                raise Violation(f"the logs of {leader_id} and {broker_id} differ in the end")
        for value, offset in self.acked.items():
            found = next((one for one in leader.batches if one.base <= offset < one.end), None)
            if found is None and offset >= leader.log_start_offset:
                raise Violation(f"{value} was acknowledged at {offset} and is gone")
            if found is not None and encode_value(value) not in found.data:
                raise Violation(f"{value} was acknowledged at {offset}, where another stands")
