"""Handlers of an application at work: order, concurrency, commits, rebalances, an orderly end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from contextlib import ExitStack
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.client import App, Message, Outgoing, Retry
from penstock.client.app.desk import Assigned
from penstock.client.app.runner import Runner
from tests.patience import wait_until
from tests.unit.client.app.app_kit import Target


def committed(target: Target, group: str, topic: str, partition: int = 0) -> Any:
    consumer = Consumer({"bootstrap.servers": target.bootstrap_servers, "group.id": group})
    try:
        return consumer.committed([TopicPartition(topic, partition)], timeout=30)[0]
    finally:
        consumer.close()


def test_one_key_in_order_and_keys_beside_each_other(target: Target, name: str) -> None:
    app = App(name)
    seen: dict[str, list[int]] = defaultdict(list)
    at_work: set[str] = set()
    most = 0

    @app.consumer(name, concurrency=8)
    async def handle(value: dict[str, int], message: Message) -> None:
        nonlocal most
        key = str(message.key)
        assert key not in at_work
        at_work.add(key)
        most = max(most, len(at_work))
        await asyncio.sleep(0.001 * (value["n"] % 3))
        at_work.discard(key)
        seen[key].append(value["n"])

    target.create_topic(name, partitions=3)
    target.produce(name, [(f"k{n % 10}", f'{{"n":{n}}}') for n in range(300)])
    with app.test(target) as test:
        test.settle()
    assert {key: sorted(each) for key, each in seen.items()} == seen
    assert sum(map(len, seen.values())) == 300
    assert most == 8


def test_plain_functions_run_in_threads(target: Target, name: str) -> None:
    app = App(name)
    together = threading.Barrier(4, timeout=60)
    seen: list[bytes] = []

    @app.consumer(name, concurrency=4)
    def handle(value: bytes) -> None:
        together.wait()
        seen.append(value)

    with app.test(target) as test:
        target.produce(name, [(f"k{n}", f"{n}") for n in range(8)])
        test.settle()
    assert sorted(seen) == [f"{n}".encode() for n in range(8)]


def test_what_is_done_out_of_order_is_not_done_again(target: Target, name: str) -> None:
    """The first record never ends; those behind it do, and its successor has only that to do."""
    target.create_topic(name)
    target.produce(name, [(f"k{n}", f"{n}") for n in range(20)])

    def run(hang: bool) -> list[int]:
        app = App(name)
        seen: list[int] = []

        @app.consumer(name, concurrency=4, drain="10ms")
        async def handle(value: int) -> None:
            if value == 0 and hang:
                await asyncio.sleep(3600)
            seen.append(value)

        with app.test(target) as test:
            if hang:
                wait_until(lambda: len(seen) == 19, "the others are done")
            else:
                test.settle()
        return seen

    assert sorted(run(hang=True)) == list(range(1, 20))
    place = committed(target, name, name)
    assert (place.offset, place.metadata[:9]) == (0, "a1;closed")
    assert run(hang=False) == [0]
    assert committed(target, name, name).offset == 20


def test_a_rebalance_waits_for_what_is_under_way(target: Target, name: str) -> None:
    """A second process comes in the middle: nothing is lost, and nothing is done twice."""
    target.create_topic(name, partitions=4)
    seen: list[tuple[str, int]] = []

    def member(who: str) -> App:
        app = App(name)

        @app.consumer(name, concurrency=4, settings={"heartbeat.interval.ms": 200})
        async def handle(value: int) -> None:
            await asyncio.sleep(0.005)
            seen.append((who, value))

        return app

    sent = 0

    def both_work() -> bool:
        nonlocal sent
        target.produce(name, [str(sent + each) for each in range(20)], partition=sent // 20 % 4)
        sent += 20
        return {who for who, _ in seen} == {"first", "second"}

    with ExitStack() as stack:
        stack.enter_context(member("first").test(target))
        wait_until(lambda: not both_work() and seen, "the first works")
        stack.enter_context(member("second").test(target))
        wait_until(both_work, "both work")
        wait_until(lambda: len(seen) >= sent, "all are handled")
    assert sorted(value for _, value in seen) == list(range(sent))


def test_a_rebalance_waits_also_where_all_ends(target: Target, name: str) -> None:
    """A partition that is taken away from a process that is about to end: what is under way is
    finished first, and committed by whoever gives it up."""
    app = App(name)
    events: list[str] = []
    gate = asyncio.Event()

    @app.consumer(name)
    async def handle(value: int) -> None:
        events.append("begun")
        await gate.wait()
        events.append("done")

    async def end_and_revoke(runner: Runner) -> list[Any]:
        ending = asyncio.ensure_future(runner.stop())
        await asyncio.sleep(0)
        revoking = asyncio.ensure_future(runner.drain([(name, 0)], lost=False))
        revoking.add_done_callback(lambda _: events.append("given up"))
        await asyncio.sleep(0.1)
        gate.set()
        commits = await revoking
        late = Assigned(name, 0, 1, None)
        assert runner.open_commits([late]) == []
        runner.assign([late])
        assert not runner._assignment.parts
        await ending
        return commits

    with app.test(target) as test:
        test.send(name, 1)
        wait_until(lambda: events, "it is under way")
        assert test._running is not None
        (runner,) = test._running.runners
        (commit,) = test._ask(end_and_revoke(runner))
        test._running.runners.clear()
    assert events == ["begun", "done", "given up"]
    assert commit.offset == 1


def test_a_topic_made_anew_is_read_from_its_start(target: Target, name: str) -> None:
    from confluent_kafka.admin import AdminClient

    app = App(name, settings={"topic.metadata.refresh.interval.ms": 200})
    seen: list[int] = []

    @app.consumer(name)
    async def handle(value: int) -> None:
        seen.append(value)

    target.create_topic(name)
    target.produce(name, ["0", "1", "2"])
    admin = AdminClient({"bootstrap.servers": target.bootstrap_servers})
    with app.test(target):
        wait_until(lambda: len(seen) == 3, "the first three")
        admin.delete_topics([name])[name].result(30)

        def made_anew() -> bool:
            try:
                target.create_topic(name)
            except Exception:
                return False
            return True

        wait_until(made_anew, "the topic is there again")
        target.produce(name, ["3", "4"])
        wait_until(lambda: seen[3:] == [3, 4], "what came after")


def test_the_output_is_a_topic(target: Target, name: str) -> None:
    app = App(name)

    @app.consumer(name, output=f"{name}.out")
    async def handle(value: int) -> Any:
        if value == 1:
            return None
        if value == 2:
            return [{"n": 2}, Outgoing("two", key="other", headers={"h": "v"})]
        return {"n": value}

    with app.test(target) as test:
        target.produce(name, ["0", "1", "2"], key="k", partition=0)
        test.settle()
        found = {(each.key, each.value) for each in test.read(f"{name}.out")}
    assert found == {(b"k", b'{"n":0}'), (b"k", b'{"n":2}'), (b"other", b"two")}


def test_at_most_once_is_committed_before_it_is_handled(target: Target, name: str) -> None:
    app = App(name)
    positions: list[int] = []

    @app.consumer(name, delivery="at-most-once", concurrency=1)
    def handle(value: int, message: Message) -> None:
        positions.append(committed(target, name, name).offset - message.offset)
        raise OSError("away")

    target.create_topic(name)
    with app.test(target) as test:
        test.send(name, 1)
        test.finish()
        assert [each.value for each in test.read(f"{name}.dead-letters")] == [b"1"]
    assert positions == [1]


def test_what_is_past_its_time_is_passed_by(target: Target, name: str) -> None:
    app = App(name)
    seen: list[int] = []

    @app.consumer(name, ttl="1h")
    async def handle(value: int) -> None:
        seen.append(value)

    now_ms = time.time_ns() // 1_000_000
    target.create_topic(name)
    target.produce(name, ["1"], timestamp_ms=now_ms - 7_200_000)
    target.produce(name, ["2"], timestamp_ms=now_ms - 60_000, headers=[("penstock.ttl", b"1000")])
    target.produce(name, ["3"], timestamp_ms=now_ms - 60_000)
    with app.test(target) as test:
        test.settle()
    assert seen == [3]


def test_time_in_retry_topics_counts(target: Target, name: str) -> None:
    app = App(name)
    attempts: list[int] = []

    @app.consumer(name, ttl="1h", retry=Retry("2m", attempts=1))
    async def handle(value: int, message: Message) -> None:
        attempts.append(message.attempt)
        raise ConnectionError

    target.create_topic(name)
    now_ms = time.time_ns() // 1_000_000
    target.produce(name, ["1"], timestamp_ms=now_ms - 59 * 60_000)
    with app.test(target) as test:
        test.settle()
        test.advance("3m")
        assert test.read(f"{name}.dead-letters") == []
    assert attempts == [1]


@pytest.mark.parametrize("kind", ["async", "plain"])
def test_a_handler_that_hangs_is_given_up(target: Target, name: str, kind: str) -> None:
    app = App(name)
    seen: list[int] = []
    ended = threading.Event()
    options: dict[str, Any] = {"timeout": "50ms", "commit_interval": "50ms", "concurrency": 1}

    if kind == "async":

        @app.consumer(name, **options)
        async def handle(value: int) -> None:
            if value == 0:
                await asyncio.sleep(3600)
            seen.append(value)

    else:

        @app.consumer(name, **options)
        def handle_plainly(value: int) -> None:
            if value == 0:
                ended.wait(3600)
            seen.append(value)

    try:
        with app.test(target) as test:
            target.produce(name, ["0", "1"], partition=0)
            test.finish()
            (letter,) = test.read(f"{name}.dead-letters")
    finally:
        ended.set()
    said = dict(letter.headers)
    assert (said["penstock.dlq.error"], said["penstock.dlq.attempt"]) == (b"TimeoutError", b"3")
    assert f"{name}-0 offset 0".encode() in (said["penstock.dlq.message"] or b"")
    assert 1 in seen


@pytest.mark.parametrize("ends", ["returns", "raises"])
def test_a_handler_that_will_not_be_cancelled_spares_the_next(
    target: Target, name: str, ends: str
) -> None:
    """The worker of one that swallowed its cancellation gives up the next that hangs all the
    same."""
    app = App(name)

    @app.consumer(name, timeout="50ms", commit_interval="50ms", concurrency=1)
    async def handle(value: int) -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            if value != 0:
                raise
            if ends == "raises":
                raise ValueError("interrupted") from None

    with app.test(target) as test:
        target.produce(name, ["0", "1"], partition=0)
        test.finish()
        letters = test.read(f"{name}.dead-letters")
    errors = [dict(each.headers)["penstock.dlq.error"] for each in letters]
    # The dead letters have several partitions.
    assert sorted(errors) == [b"TimeoutError", b"ValueError"][: 1 if ends == "returns" else 2]


def test_marks_of_transactions_leave_no_lag(target: Target, name: str) -> None:
    """What ends a transaction is no record, and has an offset all the same."""
    app = App(name)
    seen: list[int] = []

    @app.consumer(name, commit_interval="20ms")
    async def handle(value: int) -> None:
        seen.append(value)

    target.create_topic(name)
    servers = {"bootstrap.servers": target.bootstrap_servers}
    producer = Producer(servers | {"transactional.id": name})
    producer.init_transactions(30)
    with app.test(target) as test:
        for value, is_kept in ((1, True), (2, False), (3, True), (4, False)):
            producer.begin_transaction()
            producer.produce(name, str(value))
            producer.flush(30)
            end = producer.commit_transaction if is_kept else producer.abort_transaction
            end(30)
        test.settle()
        wait_until(lambda: committed(target, name, name).offset == 8, "all is committed")
    assert seen == [1, 3]
