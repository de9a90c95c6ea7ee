"""Runs the detector under fire and lets the checker judge what it has written."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from penstock.pipelines.jobs.fraud.checker import Checker, wait_until_judged
from penstock.pipelines.jobs.fraud.generator import Generator, GeneratorError, Sent, ensure_topics
from penstock.pipelines.jobs.fraud.traffic import Traffic
from tools.detector import Detector
from tools.fraud.outcome import Result

PARTITIONS = 4
BROKER_SETTINGS = {"group.initial.rebalance.delay.ms": "0"}
Say = Callable[[str], None]


class Broker(Protocol):
    @property
    def bootstrap_servers(self) -> str: ...
    def start(self) -> None: ...
    def kill(self) -> None: ...


@dataclass(frozen=True)
class Plan:
    seed: int
    kills: int
    seconds: float = 0.0
    """It goes on until both are reached: so many kills, and so long."""
    rate: float = 1000.0
    accounts: int = 10_000
    shortest_peace_s: float = 2.0
    longest_peace_s: float = 25.0
    """A start takes ten seconds or so: some kills meet a detector that is not up yet."""
    drain_s: float = 600.0
    calm: bool = False
    """Nothing is killed."""
    victims: tuple[str, ...] = ()
    """In this order, rather than by chance."""
    state_in: str = "topic"
    """Where the detector keeps its states: topic or spark."""


class Feeder(threading.Thread):
    """The generator, which goes on whatever dies around it."""

    def __init__(self, client: dict[str, Any], plan: Plan) -> None:
        super().__init__(name="generator", daemon=True)
        partitions = ensure_topics(client, PARTITIONS, 30)
        start_ms = time.time_ns() // 1_000_000
        traffic = Traffic(
            plan.seed, accounts=plan.accounts, partitions=partitions, start_ms=start_ms
        )
        self.stopping = threading.Event()
        self.failure: str | None = None
        self._generator = Generator(client, traffic)
        self._plan = plan

    @property
    def sent(self) -> Sent:
        return self._generator.sent

    def run(self) -> None:
        try:
            self._generator.run(self._plan.rate, on_tick=lambda _: not self.stopping.is_set())
        except GeneratorError as error:
            self.failure = str(error)


def run(broker: Broker, scratch: Path, plan: Plan, say: Say = print) -> Result:
    result = Result(plan.seed, plan.rate)
    began = time.monotonic()
    broker.start()
    client = {"bootstrap.servers": broker.bootstrap_servers, "log_level": 0}
    client["error_cb"] = lambda _: None
    feeder = Feeder(client, plan)
    place = ["--state", plan.state_in]
    detector = Detector(broker.bootstrap_servers, scratch / "detector", place)
    feeder.start()
    try:
        detector.start()
        _wait_for_verdicts(client, detector, result, say)
        _disturb(broker, detector, plan, result, say)
        _settle(client, detector, feeder, plan, result, say)
        result.load = os.getloadavg()[2]
        say("reading everything back")
        result.report = Checker(client, timeout_s=60).run()
    finally:
        feeder.stopping.set()
        if detector.running:
            detector.kill()
        feeder.join(30)
        broker.kill()
    result.seconds = time.monotonic() - began
    result.starts = detector.starts
    if not result.holds:
        say(f"the last words of the detector:\n{detector.last_words()}")
    return result


def _wait_for_verdicts(
    client: dict[str, Any], detector: Detector, result: Result, say: Say, patience_s: float = 900.0
) -> None:
    """The first kill must meet a detector at work."""
    began = time.monotonic()
    while time.monotonic() < began + patience_s:
        if _verdicts(client):
            result.first_verdict_s = time.monotonic() - began
            say(f"first verdicts after {result.first_verdict_s:.1f} s")
            return
        detector.tend()
        time.sleep(0.25)
    result.troubles.append(f"stuck: no verdict within {patience_s:.0f} s")


def _verdicts(client: dict[str, Any]) -> int:
    from penstock.pipelines.jobs.fraud.model import VERDICTS
    from penstock.pipelines.scan import Scan, UnreadableError

    try:
        with Scan(client, VERDICTS) as scan:
            return len(scan)
    except UnreadableError:
        return 0


def _disturb(broker: Broker, detector: Detector, plan: Plan, result: Result, say: Say) -> None:
    dice = random.Random(plan.seed)
    until = time.monotonic() + plan.seconds
    while plan.calm and time.monotonic() < until:
        detector.tend()
        time.sleep(0.1)
    while result.kills < plan.kills or time.monotonic() < until:
        peace_s = dice.uniform(plan.shortest_peace_s, plan.longest_peace_s)
        quiet_until = time.monotonic() + peace_s
        while time.monotonic() < quiet_until:
            detector.tend()
            time.sleep(0.1)
        what = _victim(plan, dice, result.kills)
        _strike(what, broker, detector, dice)
        result.disturbances[what] += 1
        say(f"{result.kills}/{plan.kills}: {what}")


def _victim(plan: Plan, dice: random.Random, number: int) -> str:
    if plan.victims:
        return plan.victims[number % len(plan.victims)]
    return dice.choices(list(VICTIMS), weights=list(VICTIMS.values()))[0]


VICTIMS = {
    "detector killed": 3.0,
    "driver killed": 2.0,
    "Java killed": 1.0,
    "workers killed": 2.0,
    "broker killed": 3.0,
    "broker and detector killed": 2.0,
}


def _strike(what: str, broker: Broker, detector: Detector, dice: random.Random) -> None:
    if what == "detector killed":
        detector.kill()
    elif what == "driver killed":
        detector.kill_driver()
    elif what == "Java killed":
        detector.kill_java()
    elif what == "workers killed":
        detector.kill_workers()
    elif what == "broker killed":
        broker.kill()
        time.sleep(dice.uniform(0.0, 3.0))
        broker.start()
    else:
        first, second = dice.sample([broker.kill, detector.kill], 2)
        first()
        second()
        time.sleep(dice.uniform(0.0, 1.0))
        broker.start()


def _settle(
    client: dict[str, Any],
    detector: Detector,
    feeder: Feeder,
    plan: Plan,
    result: Result,
    say: Say,
) -> None:
    """Peace: whatever was paid must now be judged to the last payment."""
    feeder.stopping.set()
    feeder.join(150)
    if feeder.is_alive() or feeder.failure is not None:
        why = feeder.failure or "it does not end"
        result.troubles.append(f"the generator failed: {why}")
    result.sent = feeder.sent.payments
    say("no more kills: the detector finishes")
    behind, deadline = 1, time.monotonic() + plan.drain_s
    while behind and time.monotonic() < deadline:
        detector.tend()
        behind = wait_until_judged(client, 2.0, timeout_s=60)
    if behind:
        result.troubles.append(f"stuck: {behind} payments are not judged")
    code = detector.stop()
    if code != 0:
        result.troubles.append(f"the detector did not stop cleanly: exit code {code}")
