"""Priorities by topics, time to live, and a group that is reset under a running application."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any
from unittest.mock import Mock

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.client import App, Retry
from penstock.client.app.poller import Poller
from penstock.client.app.running import consumer_settings
from tests.patience import wait_until
from tests.unit.client.app.app_kit import Target


def test_topics_are_served_by_weight(target: Target, name: str) -> None:
    """While both have something ready; and what has little weight is not starved."""
    urgent, usual = f"{name}.urgent", name
    for topic in (urgent, usual):
        target.create_topic(topic)
    app = App(name, target.bootstrap_servers)
    seen: list[str] = []
    gate = asyncio.Event()

    @app.consumer({urgent: 5, usual: 1}, concurrency=1)
    async def handle(value: str) -> None:
        await gate.wait()
        seen.append(value)

    target.produce(usual, ["usual"] * 300)
    target.produce(urgent, ["urgent"] * 300)
    with app.test(target) as test:
        runner = test._running.runners[0] if test._running else None
        assert runner is not None
        wait_until(lambda: runner._taken == 600, "all are read")
        test._loop.call_soon_threadsafe(gate.set)
        test.settle()
    # The first of all was in hand before the rest was there.
    first = Counter(seen[1:121])
    assert first == {"urgent": 100, "usual": 20}
    assert Counter(seen) == {"urgent": 300, "usual": 300}


def test_records_past_their_time_are_passed_by(target: Target, name: str) -> None:
    app = App(name, target.bootstrap_servers)
    seen: list[str] = []

    @app.consumer(name, ttl="10m", retry=Retry("30m", attempts=1), commit_interval="20ms")
    async def handle(value: str) -> None:
        seen.append(value)
        if value == "later":
            raise OSError("away")

    now_ms = int(time.time() * 1000)
    minute_ms = 60_000
    target.create_topic(name)
    target.produce(name, ["old"], timestamp_ms=now_ms - 11 * minute_ms)
    target.produce(name, ["young"], timestamp_ms=now_ms - 2 * minute_ms)
    brief = [("penstock.ttl", str(minute_ms).encode())]
    target.produce(name, ["brief"], timestamp_ms=now_ms - 2 * minute_ms, headers=brief)
    long = [("penstock.ttl", str(60 * minute_ms).encode())]
    target.produce(name, ["long"], timestamp_ms=now_ms - 11 * minute_ms, headers=long)
    target.produce(name, ["later"])
    with app.test(target) as test:
        test.settle()
        assert seen == ["young", "long", "later"]
        # Due after half an hour, and past its ten minutes by then.
        test.advance("31m")
        assert seen == ["young", "long", "later"]
        assert test.read(f"{name}.dead-letters") == []
        assert test._running is not None
        assert test._running.views()[0].counts.expired == 3


def test_a_group_that_is_reset_in_the_middle(target: Target, name: str) -> None:
    """Offsets set back behind its back: it goes on where it is, and its next commit counts. Set
    back while it is stopped, it does all of it again."""
    target.create_topic(name)
    seen: Counter[int] = Counter()

    def application() -> App:
        app = App(name, target.bootstrap_servers)

        @app.consumer(name, commit_interval="20ms")
        async def handle(value: int) -> None:
            seen[value] += 1

        return app

    admin = AdminClient({"bootstrap.servers": target.bootstrap_servers})
    with application().test(target) as test:
        target.produce(name, [str(number) for number in range(50)])
        test.settle()
        wait_until(lambda: committed(admin, name) == 50, "all is committed")
        # Brokers refuse to change the offsets of a group with members, for a member's sake.
        assert not reset(admin, name)
        target.produce(name, [str(number) for number in range(50, 100)])
        test.settle()
    assert committed(admin, name) == 100
    wait_until(lambda: reset(admin, name), "the group is empty, and reset")
    with application().test(target) as test:
        test.settle()
    assert seen == Counter(range(100)) + Counter(range(100))
    assert committed(admin, name) == 100


def test_a_partition_that_was_held_and_comes_back_is_read(target: Target, name: str) -> None:
    """Taken away while it waits for a retry: librdkafka has it paused still when it returns."""
    app = App(name, target.bootstrap_servers)

    @app.consumer(name)
    async def handle(value: int) -> None: ...

    target.create_topic(name)
    target.produce(name, ["1"])
    (declared,) = app.consumers
    settings = consumer_settings(app.client_settings(), declared, None)
    loop = asyncio.new_event_loop()
    poller = Poller(declared, settings, loop, Mock())
    place = TopicPartition(name, 0, 0)
    try:
        poller.seat([place])
        wait_until(lambda: is_record(poller.consumer.poll(0.1)), "it is read at first")
        poller.consumer.pause([place])
        poller.consumer.incremental_unassign([place])
        poller.consumer.poll(1.0)
        poller.seat([place])
        wait_until(lambda: is_record(poller.consumer.poll(0.1)), "it is read")
    finally:
        poller.consumer.close()
        loop.close()


def test_what_was_asked_for_before_a_rebalance_is_not_done_after_it(
    target: Target, name: str
) -> None:
    """A partition that is back is neither paused for good nor read from elsewhere."""
    app = App(name, target.bootstrap_servers)

    @app.consumer(name)
    async def handle(value: int) -> None: ...

    target.create_topic(name)
    target.produce(name, ["1", "2", "3"])
    (declared,) = app.consumers
    settings = consumer_settings(app.client_settings(), declared, None)
    loop = asyncio.new_event_loop()
    poller = Poller(declared, settings, loop, Mock())
    ours = True
    try:
        poller.seat([TopicPartition(name, 0, 0)])
        poller.hold((name, 0), lambda: ours)
        poller.go_on((name, 0), 2, lambda: ours, Mock())
        ours = False
        for call in poller._calls:
            call()
        assert poller._not_held() == [TopicPartition(name, 0)]
        found: list[Any] = []
        wait_until(lambda: found or found.extend(poller.consumer.consume(1, 0.1)), "it is read")
        assert found[0].offset() == 0
    finally:
        poller.consumer.close()
        loop.close()


def is_record(message: Any) -> bool:
    return message is not None and message.error() is None


def committed(admin: AdminClient, name: str) -> int:
    asked = ConsumerGroupTopicPartitions(name, [TopicPartition(name, 0)])
    (answer,) = admin.list_consumer_group_offsets([asked]).values()
    return int(answer.result(30).topic_partitions[0].offset)


def reset(admin: AdminClient, name: str) -> bool:
    asked = ConsumerGroupTopicPartitions(name, [TopicPartition(name, 0, 0)])
    (answer,) = admin.alter_consumer_group_offsets([asked]).values()
    try:
        return answer.result(30).topic_partitions[0].error is None
    except Exception:
        return False
