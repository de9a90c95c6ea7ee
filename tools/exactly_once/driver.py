"""Runs copiers under fire and collects what the checks say in the end."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from penstock.testing.history import load
from tools.exactly_once.copier import LOOSE_OFFSETS
from tools.exactly_once.feeder import Feeder
from tools.exactly_once.fleet import Fleet
from tools.exactly_once.outcome import Result
from tools.exactly_once.reading import lag
from tools.exactly_once.setup import COPY, PARTITIONS, SESSION_TIMEOUT_MS, SOURCE
from tools.exactly_once.verdict import Say, drain, judge
from tools.penstock_broker import Penstock


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
    copiers: int = 3
    rate: int = 200
    shortest_peace_s: float = 0.1
    longest_peace_s: float = 1.5
    work_s: float = 0.05
    """How long a transaction stays open at most, without need: it is then that things happen."""
    fault: str | None = None
    broker_share: float = 0.3
    halt_share: float = 0.25
    replace_share: float = 0.5
    """Of the copiers that stand still, how many find another one in their place when they wake:
    that one's producer epoch fences them, and for the others it is the generation of the group."""
    halt_sessions: tuple[float, float] = (1.2, 2.0)
    """How long a copier stands still, in session timeouts."""
    drain_s: float = 90.0


def run(target: str, broker: Broker, scratch: Path, plan: Plan, say: Say = print) -> Result:
    result = Result(target=target, seed=plan.seed, fault=plan.fault, copiers=plan.copiers)
    began = time.monotonic()
    broker.start()
    _create_topics(broker)
    feeder = Feeder(broker.bootstrap_servers, plan.rate)
    fleet = Fleet(broker.bootstrap_servers, scratch, plan.copiers, plan.work_s, plan.fault)
    feeder.start()
    try:
        _disturb(broker, fleet, plan, result, say)
        _settle(broker, fleet, feeder, plan, result, say)
        judge(broker.bootstrap_servers, feeder, load(fleet.histories), result, say)
    finally:
        feeder.stopping.set()
        fleet.kill_all()
        broker.kill()
    result.seconds = time.monotonic() - began
    say(result.summary())
    return result


def _create_topics(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    topics = [NewTopic(name, PARTITIONS, 1) for name in (SOURCE, COPY)]
    for future in admin.create_topics(topics).values():
        future.result(timeout=30)


def _disturb(broker: Broker, fleet: Fleet, plan: Plan, result: Result, say: Say) -> None:
    dice = random.Random(plan.seed)
    until = time.monotonic() + plan.seconds
    while result.kills < plan.kills or time.monotonic() < until:
        quiet_until = time.monotonic() + dice.uniform(plan.shortest_peace_s, plan.longest_peace_s)
        while time.monotonic() < quiet_until:
            fleet.tend()
            time.sleep(0.05)
        what = _disturb_once(broker, fleet, plan, dice, result)
        result.disturbances[what] += 1
        say(f"{result.kills}/{plan.kills} kills: {what}")


def _disturb_once(
    broker: Broker, fleet: Fleet, plan: Plan, dice: random.Random, result: Result
) -> str:
    roll = dice.random()
    slot = dice.choice(fleet.slots)
    if roll < plan.broker_share:
        return _kill_broker(broker, dice, result)
    if roll < plan.broker_share + plan.halt_share:
        replaced = dice.random() < plan.replace_share
        pause_s = SESSION_TIMEOUT_MS / 1000 * dice.uniform(*plan.halt_sessions)
        fleet.halt(slot, pause_s, replace=replaced)
        return "copier stopped and replaced" if replaced else "copier stopped for a while"
    fleet.kill(slot, after_commit=plan.fault == LOOSE_OFFSETS)
    return "copier killed"


def _kill_broker(broker: Broker, dice: random.Random, result: Result) -> str:
    """Now and then again while it starts: recovery and loading are interrupted as well."""
    broker.kill()
    twice = isinstance(broker, Penstock) and dice.random() < 0.25
    if isinstance(broker, Penstock) and twice:
        broker.spawn()
        time.sleep(dice.uniform(0.1, 0.6))
        broker.kill()
    began = time.monotonic()
    broker.start()
    result.recovery_s.append(time.monotonic() - began)
    return "broker killed, and again while starting" if twice else "broker killed"


def _settle(
    broker: Broker, fleet: Fleet, feeder: Feeder, plan: Plan, result: Result, say: Say
) -> None:
    """Peace: whatever was acknowledged must now be copied to the last record."""
    drain(feeder, result, 30)
    say("no more kills: the copiers finish")
    deadline = time.monotonic() + plan.drain_s
    behind = lag(broker.bootstrap_servers)
    while (behind or not fleet.is_awake) and time.monotonic() < deadline:
        fleet.tend()
        time.sleep(0.2)
        behind = lag(broker.bootstrap_servers)
    if behind:
        result.violations.append(f"stuck: the copiers are {behind} records behind")
    stubborn = fleet.end()
    if stubborn:
        result.violations.append(f"stuck: {stubborn} copiers did not end")
    result.endings = fleet.endings
