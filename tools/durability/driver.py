"""Loads a broker, kills it again and again, and collects what the checks say in the end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tools.durability import dump
from tools.durability.checker import Cleanup, Reading, Violation, check
from tools.durability.churn import Churn
from tools.durability.ledger import Ledger
from tools.durability.load import Load, StepLoad, StreamLoad
from tools.durability.outcome import Outcome
from tools.durability.reading import UnreadableError, is_cleaned, read_topic
from tools.durability.topic import TOPICS, LoadedTopic
from tools.penstock_broker import Penstock


class Broker(Protocol):
    data_dir: Path
    port: int

    @property
    def bootstrap_servers(self) -> str: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...


@dataclass(frozen=True)
class Plan:
    kills: int
    seed: int
    topics: Sequence[LoadedTopic] = TOPICS
    churn: bool = True
    rate: int = 1_000
    longest_life_s: float = 2.0
    judge_files: bool = False
    drain_s: float = 60.0
    cleanup_s: float = 20.0


Say = Callable[[str], None]


def run(target: str, broker: Broker, plan: Plan, say: Say = print) -> Outcome:
    ledger = Ledger()
    outcome = Outcome(target, plan.seed, tuple(plan.topics), ledger)
    broker.start()
    _create(broker, plan.topics)
    loads = _start_loads(broker, plan, ledger)
    churn = Churn(broker.bootstrap_servers) if plan.churn else None
    if churn:
        churn.start()
    try:
        _await_cleanup(broker, plan, outcome, say)
        _kill_repeatedly(broker, plan, outcome, say)
        _end_loads(loads, churn, plan, outcome)
        _judge(broker, plan, churn, outcome, say)
    finally:
        for load in loads:
            load.stopping.set()
        if churn:
            churn.stopping.set()
        broker.kill()
    say(outcome.summary())
    return outcome


def _create(broker: Broker, topics: Sequence[LoadedTopic]) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    wanted = [
        NewTopic(
            topic.name,
            num_partitions=topic.partitions,
            replication_factor=1,
            config=dict(topic.settings),
        )
        for topic in topics
    ]
    for future in admin.create_topics(wanted).values():
        future.result(timeout=30)


def _start_loads(broker: Broker, plan: Plan, ledger: Ledger) -> list[Load]:
    loads: list[Load] = []
    for topic in plan.topics:
        stream = f"stream-{topic.name}"
        loads.append(StreamLoad(stream, topic, ledger, broker.bootstrap_servers, plan.rate))
        loads.append(StepLoad(f"step-{topic.name}", topic, ledger, broker.port))
    for load in loads:
        load.start()
    return loads


def _await_cleanup(broker: Broker, plan: Plan, outcome: Outcome, say: Say) -> None:
    """The kills are to meet retention and compaction at work, not before they have begun."""
    waiting = [topic for topic in plan.topics if topic.cleanup is not Cleanup.NOTHING]
    deadline = time.monotonic() + plan.cleanup_s
    while waiting and time.monotonic() < deadline:
        time.sleep(0.3)
        bootstrap = broker.bootstrap_servers
        waiting = [one for one in waiting if not is_cleaned(bootstrap, one.name, one.partitions)]
    outcome.uncleaned = [topic.name for topic in waiting]
    say(f"cleanup at work: {'no: ' + ', '.join(outcome.uncleaned) if waiting else 'yes'}")


def _kill_repeatedly(broker: Broker, plan: Plan, outcome: Outcome, say: Say) -> None:
    dice = random.Random(plan.seed)
    while outcome.kills.total() < plan.kills:
        time.sleep(dice.uniform(0.05, plan.longest_life_s))
        _kill(broker, dice, outcome)
        began = time.monotonic()
        broker.start()
        took = time.monotonic() - began
        outcome.recovery_s.append(took)
        acknowledged = sum(len(acks) for acks in list(outcome.ledger.acknowledged.values()))
        done = f"kill {outcome.kills.total()}/{plan.kills}"
        say(f"{done}: back in {took:.2f} s, {acknowledged} acknowledged")


def _kill(broker: Broker, dice: random.Random, outcome: Outcome) -> None:
    """Mostly while it serves; now and then while it stops, or again while it starts."""
    roll = dice.random()
    if not isinstance(broker, Penstock) or roll < 0.6:
        broker.kill()
        outcome.kills["serving"] += 1
    elif roll < 0.8:
        broker.terminate()
        time.sleep(dice.uniform(0.0, 0.05))
        broker.kill()
        outcome.kills["stopping"] += 1
    else:
        broker.kill()
        broker.spawn()
        time.sleep(dice.uniform(0.0, 0.4))
        broker.kill()
        outcome.kills["serving"] += 1
        outcome.kills["starting"] += 1


def _end_loads(loads: list[Load], churn: Churn | None, plan: Plan, outcome: Outcome) -> None:
    # The last start must be seen to work under load too.
    time.sleep(0.5)
    threads: list[Load | Churn] = [*loads, *([churn] if churn else [])]
    for thread in threads:
        thread.stopping.set()
    for thread in threads:
        thread.join(30)
    for load in loads:
        left = load.drain(plan.drain_s) if isinstance(load, StreamLoad) else 0
        if left:
            outcome.violations.append(
                Violation("fatal", load.name, f"{left} records hang though the broker is up")
            )
    outcome.violations += [Violation("fatal", "client", said) for said in outcome.ledger.fatal]
    if churn:
        outcome.churned["created"] = sum(fate.created for fate in churn.fates.values())
        outcome.churned["deleted"] = sum(fate.deleted for fate in churn.fates.values())


def _judge(broker: Broker, plan: Plan, churn: Churn | None, outcome: Outcome, say: Say) -> None:
    say("reading everything back")
    before = _judge_topics(broker, outcome)
    outcome.violations += churn.check() if churn else []
    broker.stop()
    if plan.judge_files:
        _judge_files(broker, outcome, say)
    say("the same after a clean restart")
    broker.start()
    after = _judge_topics(broker, outcome)
    outcome.violations += churn.check() if churn else []
    outcome.violations += _compare(plan.topics, before, after)


def _judge_topics(broker: Broker, outcome: Outcome) -> dict[str, list[Reading]]:
    readings: dict[str, list[Reading]] = {}
    for topic in outcome.topics:
        try:
            readings[topic.name] = read_topic(
                broker.bootstrap_servers, topic.name, topic.partitions
            )
        except UnreadableError as error:
            outcome.violations.append(Violation("lost", f"{topic.name}-?", str(error)))
            continue
        outcome.found[topic.name] = sum(len(r.records) for r in readings[topic.name])
        for reading in readings[topic.name]:
            outcome.violations += check(reading, outcome.ledger, topic.cleanup)
    return readings


def _compare(
    topics: Sequence[LoadedTopic],
    before: dict[str, list[Reading]],
    after: dict[str, list[Reading]],
) -> list[Violation]:
    """What nothing may clean must be the same after a clean stop and start."""
    untouched = [topic.name for topic in topics if topic.cleanup is Cleanup.NOTHING]
    return [
        Violation("lost", f"{name}-?", "reads differently after a clean stop and start")
        for name in untouched
        if before.get(name) != after.get(name)
    ]


def _judge_files(broker: Broker, outcome: Outcome, say: Say) -> None:
    why_not = dump.available()
    if why_not:
        say(f"files not judged by Kafka's DumpLogSegments: {why_not}")
        return
    loaded = [f"{topic.name}-{n}" for topic in outcome.topics for n in range(topic.partitions)]
    for name in ["__cluster_metadata-0", *loaded]:
        say(f"DumpLogSegments on {name}")
        outcome.violations += dump.check_directory(broker.data_dir / name)
        outcome.directories_judged += 1
