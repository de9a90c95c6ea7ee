"""Output and offsets in one transaction: killed at any moment, each record has one output."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock.client import App, Message, Outgoing, Retry
from penstock.testing.broker import Broker
from tests.patience import wait_until
from tests.unit.client.app.app_kit import Target

COMMITTED = {"isolation.level": "read_committed"}
COPYING = """
import asyncio
from penstock.client import App

app = App({name!r})

@app.consumer(
    {name!r}, output={name!r} + ".out", delivery="exactly-once", concurrency=8, commit_every=20,
    commit_interval="50ms",
)
async def copy(value: int) -> int:
    await asyncio.sleep(0.001 * (value % 7))
    return value
"""


def test_failures_are_part_of_it(target: Target, name: str) -> None:
    app = App(name)

    @app.consumer(
        name,
        output=f"{name}.out",
        delivery="exactly-once",
        retry=Retry("1m", attempts=1),
        commit_interval="50ms",
    )
    async def double(value: int) -> int:
        await asyncio.sleep(0.001 * (value % 3))
        if value == 3:
            raise OSError("away")
        return value * 2

    with app.test(target) as test:
        target.produce(name, [str(n) for n in range(10)], partition=0)
        test.settle()
        out = f"{name}.out"
        wait_until(lambda: len(target.read(out, settings=COMMITTED)) == 9, "nine are written")
        dead = f"{name}.dead-letters"
        retry = f"{name}.{name}.retry-1m"
        wait_until(lambda: target.read(retry, settings=COMMITTED), "one is tried again later")
        test.advance("2m")
        wait_until(lambda: target.read(dead, settings=COMMITTED), "it is dead")
    assert sorted(int(each.value or b"") for each in target.read(out)) == [
        n * 2 for n in range(10) if n != 3
    ]


@pytest.mark.parametrize("wrong", ["large", "nowhere"])
def test_what_no_broker_takes_is_not_in_the_way_of_others(
    target: Target, name: str, wrong: str
) -> None:
    """An output that is refused for good: its record goes to the dead letters, and the transaction
    of all others is written."""
    app = App(name)
    out = f"{name}.out"

    @app.consumer(name, output=out, delivery="exactly-once", commit_interval="20ms")
    async def double(value: int) -> Any:
        if value == 3:
            return os.urandom(2_000_000) if wrong == "large" else Outgoing(1, topic="no topic!")
        return value * 2

    with app.test(target) as test:
        target.produce(name, [str(n) for n in range(10)], partition=0)
        test.settle()
        (letter,) = target.read(f"{name}.dead-letters", settings=COMMITTED)
        written = target.read(out, settings=COMMITTED)
    values = sorted(int(each.value or b"") for each in written)
    assert values == [n * 2 for n in range(10) if n != 3]
    assert letter.value == b"3"
    said = {key: (value or b"").decode() for key, value in letter.headers}
    assert (said["penstock.dlq.error"], said["penstock.dlq.class"]) == ("RefusedError", "poison")


def test_what_is_settled_is_written(target: Target, name: str) -> None:
    """Tests read outputs as soon as all is settled, and move time on to retries that are there."""
    app = App(name)
    tried: list[int] = []

    @app.consumer(
        name, output=f"{name}.out", delivery="exactly-once", retry=Retry("30m", attempts=1)
    )
    async def double(value: int, message: Message) -> int:
        tried.append(message.attempt)
        if message.attempt == 1:
            raise OSError("away")
        return value * 2

    with app.test(target) as test:
        test.send(name, 1)
        test.settle()
        assert test.read(f"{name}.out") == []
        test.advance("30m")
        assert [each.value for each in test.read(f"{name}.out")] == [b"2"]
    assert tried == [1, 2]


def test_a_process_that_is_killed_writes_nothing_twice(
    target: Target, name: str, tmp_path: Path
) -> None:
    (tmp_path / "copying.py").write_text(COPYING.format(name=name))
    target.create_topic(name, partitions=2)
    target.create_topic(f"{name}.out")
    target.produce(name, [(f"k{n % 50}", str(n)) for n in range(2000)])
    environment = os.environ | {
        "PENSTOCK_BOOTSTRAP_SERVERS": target.bootstrap_servers,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }

    def written() -> list[int]:
        found = target.read(f"{name}.out", settings=COMMITTED)
        return [int(each.value or b"") for each in found]

    command = [sys.executable, "-m", "penstock", "app", "run", "copying.py:app"]
    for enough in (300, 900, 2000):
        process = subprocess.Popen(command, cwd=tmp_path, env=environment)
        try:
            wait_until(lambda at=enough: len(written()) >= at, f"{enough} are written")
        finally:
            process.send_signal(signal.SIGTERM if enough == 2000 else signal.SIGKILL)
            process.wait(60)
    assert sorted(written()) == list(range(2000))


def test_a_topic_that_is_not_there_is_not_waited_for_for_ever(tmp_path: Path, name: str) -> None:
    """What was sent there goes to the dead letters, all of it at once, and the rest is written."""
    app = App(name)
    out = f"{name}.out"

    @app.consumer(name, output=out, delivery="exactly-once", commit_interval="20ms")
    async def double(value: int) -> Any:
        return Outgoing(1, topic="nowhere") if value % 3 == 0 else value * 2

    with Broker(tmp_path / "data", {"auto.create.topics.enable": False}) as broker:
        for topic in (name, out):
            broker.create_topic(topic)
        broker.produce(name, [str(n) for n in range(10)], partition=0)

        def written(topic: str) -> list[Any]:
            return broker.read(topic, settings=COMMITTED)

        with app.test(broker):
            wait_until(lambda: len(written(out)) == 6, "the others are written")
        letters = written(f"{name}.dead-letters")
    assert sorted(int(each.value or b"") for each in letters) == [0, 3, 6, 9]
    said = {key: (value or b"").decode() for key, value in letters[0].headers}
    assert said["penstock.dlq.error"] == "RefusedError"
    assert "nowhere" in said["penstock.dlq.message"]
