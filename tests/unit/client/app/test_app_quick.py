"""Handlers that wait, do not wait, or fail, mixed by dice: order, concurrency and commits hold."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.client import App, Message, Retry
from penstock.client.app.declaration import Order
from tests.patience import wait_until
from tests.unit.client.app.app_kit import Target

RECORDS = 3000
KEYS = 25


def sent(target: Target, name: str, dice: random.Random) -> None:
    target.create_topic(name, partitions=2)
    for piece in range(0, RECORDS, 500):
        numbers = range(piece, piece + 500)
        headers = [("h", b"v")] if dice.random() < 0.3 else []
        target.produce(name, [(f"k{n % KEYS}", str(n)) for n in numbers], headers=headers)


def committed(target: Target, group: str, topic: str) -> int:
    """The sum of both partitions, and all that is noted beyond as nothing."""
    reader = Consumer({"bootstrap.servers": target.bootstrap_servers, "group.id": group})
    try:
        places = [TopicPartition(topic, number) for number in range(2)]
        return sum(max(0, each.offset) for each in reader.committed(places, timeout=30))
    finally:
        reader.close()


@pytest.mark.parametrize("order", ["key", "partition"])
@pytest.mark.parametrize("seed", range(3))
def test_order_holds_whoever_waits(target: Target, name: str, seed: int, order: Order) -> None:
    dice = random.Random(seed)
    sent(target, name, dice)
    app = App(name, target.bootstrap_servers)
    began: dict[Any, list[int]] = defaultdict(list)
    ended: dict[Any, list[int]] = defaultdict(list)
    at_work: Counter[Any] = Counter()
    together = 0

    @app.consumer(
        name,
        order=order,
        concurrency=8,
        commit_every=100,
        commit_interval="20ms",
        retry=Retry(attempts=20, backoff="1ms"),
    )
    async def handle(value: int, message: Message) -> None:
        nonlocal together
        lane = message.key if order == "key" else message.partition
        at_work[lane] += 1
        together = max(together, sum(at_work.values()))
        assert at_work[lane] == 1, "two of one lane at once"
        if message.attempt == 1:
            began[lane].append(value)
        try:
            chance = dice.random()
            if chance < 0.1:
                await asyncio.sleep(dice.random() / 200)
            elif chance < 0.2:
                await asyncio.sleep(0)
            if dice.random() < 0.02:
                raise OSError("away")
        finally:
            at_work[lane] -= 1
        ended[lane].append(value)

    with app.test(target) as test:
        test.finish()
        assert test.read(f"{name}.dead-letters") == []
        assert test._running is not None
        counts = test._running.views()[0].counts
        assert counts.handled == RECORDS == sum(map(len, ended.values()))
        assert sum(counts.buckets) == counts.handled + counts.failed
    assert began == ended
    assert all(each == sorted(each) for each in ended.values()) or order == "partition"
    assert together > 1
    wait_until(lambda: committed(target, name, name) == RECORDS, "all is committed")


def test_nothing_is_committed_that_was_not_done(target: Target, name: str) -> None:
    """One that waits for ever among many that do not: the commit stays in front of it."""
    target.create_topic(name, partitions=2)
    target.produce(name, [str(number) for number in range(500)], partition=0)
    app = App(name, target.bootstrap_servers)
    seen: list[int] = []

    @app.consumer(name, concurrency=4, commit_every=50, commit_interval="20ms", drain="10ms")
    async def handle(value: int) -> None:
        if value == 123:
            await asyncio.sleep(3600)
        seen.append(value)

    with app.test(target):
        wait_until(lambda: len(seen) == 499, "all others are done")
    assert committed(target, name, name) == 123
    again: list[int] = []
    after = App(name, target.bootstrap_servers)

    @after.consumer(name, commit_interval="20ms")
    async def handle_again(value: int) -> None:
        again.append(value)

    with after.test(target) as test:
        test.settle()
    # What was done beyond it is in the commit's note.
    assert again == [123]
    assert committed(target, name, name) == 500


def test_a_handler_that_never_waits_lets_others_live(target: Target, name: str) -> None:
    target.create_topic(name)
    target.produce(name, [str(number) for number in range(300)])
    app = App(name, target.bootstrap_servers)
    beats: list[int] = []
    seen: list[int] = []

    @app.consumer(name)
    async def handle(value: int) -> None:
        if value == 0:
            asyncio.get_running_loop().call_soon(beat)
        sum(range(20_000))
        seen.append(value)

    def beat() -> None:
        beats.append(len(seen))
        if len(seen) < 300:
            asyncio.get_running_loop().call_soon(beat)

    with app.test(target) as test:
        test.settle()
    assert len(seen) == 300
    assert any(0 < each < 299 for each in beats)
