"""A cluster of one partition from a seed: brokers, a controller, a network, clients and faults.

Everything happens in virtual time, in an order that the seed decides: the same seed is the same
history. Processes crash, lose what was not synced, stop cleanly, pause, are cut off; messages are
late or lost; late ones may arrive after their sender has died.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

from penstock.replication.follower import Follower
from penstock.replication.isr_change import IsrAnswer, IsrChange
from penstock.replication.leader import Leader
from tests.simulation.replica_checker import ReplicaChecker, Violation
from tests.simulation.replica_controller_model import ModelController
from tests.simulation.replica_log_model import ModelLog, SimulatedLog
from tests.simulation.replica_process_model import Process

CONTROLLER = -1
FAULTS_MS = 3_000
HEALED_MS = 2_500
HEARTBEAT_MS = 100
SESSION_MS = 400


@dataclass(frozen=True)
class Planted:
    """Faults of the code under test: a leader or a follower that breaks a rule."""

    leader: type[Leader] = Leader
    follower: type[Follower] = Follower


class Cluster:
    def __init__(
        self,
        seed: int,
        faults: Planted | None = None,
        *,
        flushes: bool | None = None,
        restless: bool = False,
        make_log: Callable[[int], SimulatedLog] = lambda _: ModelLog(),
    ) -> None:
        self.random = random = Random(seed)
        self.faults = faults or Planted()
        size = random.choice([3, 3, 3, 4, 5])
        self.min_isr = random.choice([1, 2, 2, 2, size - 1])
        drawn = random.random() < 0.5
        self.flushes = drawn if flushes is None else flushes
        self.careless = random.random() < 0.2
        self.drop = random.choice([0.0, 0.01, 0.1])
        self.slow = random.choice([0.0, 0.02, 0.1, 0.3])
        self.fault_every_ms = random.choice([60, 200, 500])
        self.produce_every_ms = random.choice([12, 12, 60, 200])
        self.restless = restless
        if restless:
            # Nothing but power cuts with quick starts after them, late messages, and few records.
            self.flushes, self.min_isr, self.drop, self.slow = False, size - 1, 0.0, 0.3
            self.fault_every_ms, self.produce_every_ms = 60, 200
        self.now_ms = 0
        self.healed = False
        self.acked = 0
        self._events: list[tuple[int, int, Callable[[], None], Process | None]] = []
        self._number = 0
        self._value = 0
        self._cuts: set[frozenset[int]] = set()
        self._seen_ms: dict[int, int] = {}
        self._clean_epochs: dict[int, int] = {}
        ids = tuple(range(1, size + 1))
        self.logs = {one: make_log(one) for one in ids}
        self.controller = ModelController(ids, self.min_isr, unclean=random.random() < 0.15)
        self.checker = ReplicaChecker(self.logs, flushes=self.flushes)
        self.checker.image = lambda: self.controller.image
        self.processes = {one: Process(self, one) for one in ids}
        for one, process in self.processes.items():
            process.broker_epoch = one
            self._seen_ms[one] = 0
            process.on_image(self.controller.image)
            self._start_timers(process)

    # Time

    def later(self, delay_ms: int, act: Callable[[], None], who: Process | None = None) -> None:
        """`who` is gone or pauses: so does what it was about to do."""
        self._number += 1
        heappush(self._events, (self.now_ms + delay_ms, self._number, act, who))

    def run(self, until_ms: int) -> None:
        events = self._events
        while events and events[0][0] <= until_ms:
            self.now_ms, number, act, who = heappop(events)
            if who is not None:
                if not who.alive:
                    continue
                if who.paused_until_ms > self.now_ms:
                    heappush(events, (who.paused_until_ms, number, act, who))
                    continue
            act()
        self.now_ms = until_ms

    # Network

    def send(self, source: int, target: Process, act: Callable[[], None]) -> None:
        """To this very process: an answer belongs to a connection."""
        if self._passes(source, target.id):
            self.later(self._delay_ms(), act, target)

    def call(self, source: Process, target_id: int, act: Callable[[Process], None]) -> None:
        """To whatever process answers at this address when the message arrives."""
        if self._passes(source.id, target_id):
            self.later(self._delay_ms(), lambda: self._arrive(target_id, act))

    def _arrive(self, target_id: int, act: Callable[[Process], None]) -> None:
        target = self.processes[target_id]
        if target.paused_until_ms > self.now_ms:
            self.later(target.paused_until_ms - self.now_ms, lambda: self._arrive(target_id, act))
        elif target.alive:
            act(target)

    def send_to_controller(self, source: Process, act: Callable[[], None]) -> None:
        if self._passes(source.id, CONTROLLER):
            self.later(self._delay_ms(), act)

    def send_in_order(self, source: Process, act: Callable[[], None]) -> None:
        """To the controller, behind whatever this process has sent in this way before."""
        if self._passes(source.id, CONTROLLER):
            arrival_ms = max(self.now_ms + self._delay_ms(), source.last_arrival_ms)
            source.last_arrival_ms = arrival_ms
            self.later(arrival_ms - self.now_ms, act)

    def _passes(self, one: int, other: int) -> bool:
        if self.healed:
            return True
        if self._cuts and frozenset((one, other)) in self._cuts:
            return False
        return self.random.random() >= self.drop

    def _delay_ms(self) -> int:
        if not self.healed and self.random.random() < self.slow:
            return self.random.choice([50, 200, 700, 1500])
        return self.random.randint(1, 6)

    # Controller

    def _decide(self, act: Callable[[], None]) -> None:
        before = self.controller.image
        act()
        after = self.controller.image
        if after is before:
            return
        self.checker.on_image(before, after)
        for process in self.processes.values():
            self._tell(process)

    def _tell(self, process: Process) -> None:
        image = self.controller.image
        self.later(self._delay_ms(), lambda: process.on_image(image), process)

    def alter_partition(
        self, sender: int, epoch: int, change: IsrChange
    ) -> tuple[int, IsrAnswer | None]:
        found: list[tuple[int, IsrAnswer | None]] = []
        self._decide(lambda: found.append(self.controller.alter_partition(sender, epoch, change)))
        return found[0]

    def _register(self, process: Process) -> None:
        """Asked again until it is answered; a second request of a process changes nothing."""

        def registered() -> None:
            if not process.alive or process is not self.processes[process.id]:
                return
            if process.broker_epoch < 0:
                previous = self._clean_epochs.pop(process.id, -1)
                process.broker_epoch = self.controller.register(process.id, previous)
            self._seen_ms[process.id] = self.now_ms
            self._tell(process)

        def ask() -> None:
            if process.broker_epoch < 0:
                self.send_to_controller(process, lambda: self._decide(registered))
                self.later(50, ask, process)

        ask()

    def _start_timers(self, process: Process) -> None:
        def heartbeat() -> None:
            epoch = process.broker_epoch
            if epoch >= 0 and not process.stopping:
                version = process.image.version if process.image else -1
                self.send_to_controller(
                    process, lambda: self._decide(lambda: self._beat(process.id, epoch, version))
                )
            self.later(HEARTBEAT_MS, heartbeat, process)

        def check_lag() -> None:
            process.check_lag()
            process.log.checkpoint()
            if not self.flushes and self.random.random() < 0.3:
                process.log.sync()
            self.later(120, check_lag, process)

        self.later(self.random.randint(1, HEARTBEAT_MS), heartbeat, process)
        self.later(self.random.randint(1, 120), check_lag, process)

    def _beat(self, broker_id: int, epoch: int, version: int) -> None:
        known = self.controller.image.brokers[broker_id]
        if known.epoch == epoch:
            self._seen_ms[broker_id] = self.now_ms
            if version >= epoch:
                self.controller.unfence(broker_id, epoch)

    def _check_sessions(self) -> None:
        for broker_id, seen_ms in self._seen_ms.items():
            if self.now_ms - seen_ms > SESSION_MS:
                self._decide(lambda broker_id=broker_id: self.controller.fence(broker_id))  # type: ignore[misc]
        self.later(100, self._check_sessions)

    # Faults

    def _fault(self) -> None:
        if self.healed:
            return
        kind = self.random.choice(
            ["power", "power", "kill", "stop", "pause", "cut", "elect", "bump", "delete", "all"]
        )
        broker_id = self.random.choice(list(self.processes))
        process = self.processes[broker_id]
        kind = "power" if self.restless else kind
        match kind:
            case "power" | "kill" if self._may_crash(broker_id):
                self.crash(process, power=kind == "power")
            case "all" if self.flushes and self.random.random() < 0.3:
                for one in self.processes.values():
                    self.crash(one, power=True)
            case "stop" if process.alive and process.broker_epoch >= 0 and not process.stopping:
                self._stop(process)
            case "pause":
                process.paused_until_ms = self.now_ms + self.random.choice([50, 300, 800])
            case "cut":
                self._cut(broker_id)
            case "elect":
                self._decide(self.controller.elect_preferred)
            case "bump":
                self._decide(self.controller.bump_epoch)
            case "delete" if self.random.random() < 0.3:
                process.delete_records()
        self.later(self.random.randint(1, 2 * self.fault_every_ms), self._fault)

    def _may_crash(self, broker_id: int) -> bool:
        """Without flushes min.insync.replicas - 1 unclean stops at a time are promised to be
        survived: with them, any number."""
        return self.flushes or len({*self.checker.uncertain, broker_id}) < self.min_isr

    def crash(self, process: Process, *, power: bool) -> None:
        if not process.alive:
            return
        process.alive = False
        self.checker.uncertain[process.id] = self.controller.image.brokers[process.id].epoch
        if power:
            process.log.lose_power(self.random)
        delay_ms = 5 if self.restless else self.random.choice([5, 30, 200, 700])
        self.later(delay_ms, lambda: self.start(process.id))

    def _stop(self, process: Process) -> None:
        process.stopping = True
        epoch = process.broker_epoch
        self.send_to_controller(
            process, lambda: self._decide(lambda: self.controller.begin_shutdown(process.id, epoch))
        )

        def ended() -> None:
            process.alive = False
            process.log.sync()
            process.log.checkpoint()
            self._clean_epochs[process.id] = epoch
            delay = self.random.choice([5, 200, 700])
            self.later(delay, lambda: self.start(process.id))

        self.later(self.random.randint(10, 80), ended, process)

    def start(self, broker_id: int) -> None:
        if self.processes[broker_id].alive:
            return
        self.logs[broker_id].reopen()
        process = self.processes[broker_id] = Process(self, broker_id)
        self._register(process)
        self._start_timers(process)

    def _cut(self, broker_id: int) -> None:
        others = [CONTROLLER, *self.processes]
        cuts = {frozenset((broker_id, other)) for other in others if self.random.random() < 0.5}
        self._cuts |= cuts
        self.later(self.random.choice([100, 500, 1000]), lambda: self._cuts.difference_update(cuts))

    # Clients

    def _produce(self) -> None:
        self.produce_once(acks_all=self.random.random() < 0.6)
        self.later(self.random.randint(1, 2 * self.produce_every_ms), self._produce)

    def produce_once(self, *, acks_all: bool) -> None:
        """Mostly to the leader; also to who only takes itself for it."""
        target = self.controller.partition.leader
        if target < 0 or self.random.random() < 0.2:
            target = self.random.choice(list(self.processes))
        count = self.random.choice([1, 1, 2, 3])
        values = [self._value + at for at in range(count)]
        self._value += count
        self._arrive(target, lambda process: process.produce(values, acks_all=acks_all))

    def _consume(self) -> None:
        state = self.controller.partition
        process = self.processes.get(state.leader)
        if process is not None and process.alive and process.leader is not None:
            current = process.leader_epoch == state.leader_epoch
            if current and process.leader.knows_latest(process.log.high_watermark):
                self.checker.on_latest(process.log.high_watermark)
        self.later(20, self._consume)

    # A whole run

    def simulate(self) -> None:
        for act in (self._check_sessions, self._fault, self._produce, self._consume):
            self.later(self.random.randint(1, 50), act)
        self.run(FAULTS_MS)
        self.heal()
        self.run(FAULTS_MS + HEALED_MS)
        self.check_healed()

    def heal(self) -> None:
        self.healed = True
        self._cuts.clear()
        for one in list(self.processes):
            self.processes[one].paused_until_ms = 0
        self._events = [event for event in self._events if event[2] != self._produce]
        self._events.sort()

    def check_healed(self) -> None:
        state = self.controller.partition
        if state.leader < 0 or set(state.isr) != set(state.replicas):
            raise Violation(f"not healed: leader {state.leader}, in sync {state.isr}")
        before = self.acked
        self.produce_once_to_leader()
        self.run(self.now_ms + 500)
        if self.acked == before:
            raise Violation("a healed cluster acknowledges nothing")
        self.checker.check_end(state.leader)

    def produce_once_to_leader(self) -> None:
        self._value += 1
        leader = self.processes[self.controller.partition.leader]
        leader.produce([self._value], acks_all=True)
