"""Partitions that a crash left behind: who takes them over is careful, and does not stand still."""

from __future__ import annotations

import asyncio

import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.client import App, Message, Retry
from tests.unit.client.app.app_kit import Target

COUNT = 12


def leave(target: Target, name: str, in_hand: str) -> None:
    """Records, and a commit as a process leaves it that was killed at work."""
    target.create_topic(name)
    target.produce(name, [(f"k{n}", f"{n}") for n in range(COUNT)])
    settings = {"bootstrap.servers": target.bootstrap_servers, "group.id": name}
    consumer = Consumer(settings)
    place = TopicPartition(name, 0, 0, metadata=f"a1;open;{in_hand};")
    consumer.commit(offsets=[place], asynchronous=False)
    consumer.close()


@pytest.mark.parametrize(("in_hand", "alone"), [("", 0), ("0-3*1", 4)])
def test_only_those_in_hand_at_the_second_crash_go_one_by_one(
    target: Target, name: str, in_hand: str, alone: int
) -> None:
    leave(target, name, in_hand)
    app = App(name)
    beside: dict[int, int] = {}
    at_work = 0
    together = asyncio.Barrier(4)

    @app.consumer(name, concurrency=4)
    async def handle(value: int) -> None:
        nonlocal at_work
        at_work += 1
        if value >= alone:
            await together.wait()
        else:
            await asyncio.sleep(0.01)
        beside[value] = at_work
        await asyncio.sleep(0)
        at_work -= 1

    with app.test(target) as test:
        test.settle()
    assert sorted(beside) == list(range(COUNT))
    assert all(beside[value] == 1 for value in range(alone))


def test_a_record_that_waits_for_its_retry_holds_up_its_key_alone(
    target: Target, name: str
) -> None:
    leave(target, name, "0-3*1")
    app = App(name)
    seen: list[int] = []

    @app.consumer(name, concurrency=2, retry=Retry("30m", attempts=1, keep_order=True))
    async def handle(value: int, message: Message) -> None:
        if value == 1 and message.attempt == 1:
            raise OSError("away")
        seen.append(value)

    with app.test(target) as test:
        test.settle()
        assert sorted(seen) == [value for value in range(COUNT) if value != 1]
        test.advance("31m")
    assert seen[-1] == 1
