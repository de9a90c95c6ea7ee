"""`penstock doctor` against a real broker: causes that are made to happen with real consumers."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.unit.cli.conftest import PENSTOCK, Command
from tests.unit.cli.test_cli_groups import MINUTE_MS, commit, member, read, write

on_penstock = pytest.mark.parametrize("command", ["penstock"], indirect=True)


def examine(command: Command, group: str) -> tuple[int, Any]:
    """Only this group: the broker is shared with other tests, whose groups are left behind."""
    answer = command.try_run("doctor", group, "--for", "1s", "--disk", "100", "--json")
    assert answer.err == ""
    return answer.code, answer.json


def wait_cause(command: Command, group: str, cause: str) -> tuple[int, Any]:
    """What moves in the background may stand still for a second on a busy machine."""
    deadline = time.monotonic() + 120
    while True:
        code, document = examine(command, group)
        found = document["findings"]
        if [each["cause"] for each in found] == [cause]:
            return code, found[0]
        assert time.monotonic() < deadline, found


@contextmanager
def repeating(step: Callable[[], None]) -> Iterator[None]:
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(0.05):
            step()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.fixture
def old(command: Command, topic: str) -> str:
    """A topic of two partitions with 400 and 1 records of ten minutes ago, all of the second
    and one of the first consumed by a group of its name."""
    command.run("topics", "create", topic, "-p", "2")
    write(command, topic, [10 * MINUTE_MS] * 400)
    write(command, topic, [10 * MINUTE_MS], partition=1)
    commit(command, topic, topic, 1, 1)
    return topic


def test_nothing_wrong(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    write(command, topic, [10 * MINUTE_MS])
    commit(command, topic, topic, 1)
    answer = command.run("doctor", topic, "--for", "1s", "--disk", "100")
    (said,) = answer.lines
    assert said.startswith("nothing is wrong: 1 broker, ")


def test_group_without_members(command: Command, old: str) -> None:
    code, document = examine(command, old)
    (found,) = document["findings"]
    assert (code, document["wrong"]) == (1, True)
    assert (found["cause"], found["group"], found["topic"]) == ("no-members", old, old)
    assert document["time"] - found["since"] > 9 * MINUTE_MS
    page = command.try_run("doctor", old, "--for", "1s", "--disk", "100")
    assert page.code == 1
    assert page.lines[0] == "1 finding, the most urgent first"
    assert re.search(rf"1\. BEHIND  {old} is 1\dm", page.lines[4])


@on_penstock
def test_a_watch_sees_what_changes_until_it_is_ended(command: Command, old: str) -> None:
    words = [PENSTOCK, "doctor", old, "--watch", "--for", "0.5s", "--disk", "100", "--json"]
    watching = subprocess.Popen(words, stdout=subprocess.PIPE, env=command.environment())
    assert watching.stdout is not None
    try:
        assert json.loads(watching.stdout.readline())["wrong"]
        commit(command, old, old, 400, 1)
        while json.loads(watching.stdout.readline())["wrong"]:
            pass
    finally:
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=60)
    assert watching.returncode == 130


@on_penstock
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_member_that_does_not_get_past_a_record(
    command: Command, topic: str, protocol: str
) -> None:
    """It had committed one record, and the bad one is two further on: that one is shown."""
    command.run("topics", "create", topic, "-p", "1")
    values = [b"{}"] * 3 + [b"no JSON"] + [b"{}"] * 6
    producer = Producer({"bootstrap.servers": command.servers})
    for value in values:
        producer.produce(topic, value, timestamp=int(time.time() * 1000) - 10 * MINUTE_MS)
    assert producer.flush(30) == 0
    commit(command, topic, topic, 1)
    with member(command, topic, topic, protocol) as consumer:
        read(consumer, 1)
        code, found = wait_cause(command, topic, "stuck")
        assert code == 1
        assert f"{topic}-0 stands at offset 1 " in found["evidence"][0]
        shown = found["first"][0]["do"].removeprefix("penstock ").split()
        (line,) = command.run(*shown).lines
        assert line.startswith("0:3") and line.endswith("no JSON")
        planned = found["first"][1]["do"].removeprefix("penstock ").split()
        assert "skips 3 records" in command.run(*planned).out.decode()


@on_penstock
def test_one_partition_far_behind(command: Command, old: str) -> None:
    producer = Producer({"bootstrap.servers": command.servers})
    with member(command, old, old, "classic") as consumer:
        read(consumer, 1)
        committed = [1]

        def step() -> None:
            for _ in range(5):
                producer.produce(old, b"record", partition=0)
            producer.flush(30)
            advance(consumer, old, committed)

        with repeating(step):
            _, found = wait_cause(command, old, "skew")
    assert "100% of what is written goes to this partition" in found["why"]


@on_penstock
def test_group_that_catches_up(command: Command, old: str) -> None:
    with member(command, old, old, "classic") as consumer:
        read(consumer, 1)
        committed = [1]
        with repeating(lambda: advance(consumer, old, committed)):
            code, found = wait_cause(command, old, "catching-up")
    assert (code, found["level"]) == (0, "note")
    assert "done in about " in found["why"]


def advance(consumer: Consumer, topic: str, committed: list[int]) -> None:
    """From the beginning again, should it take as long as that."""
    committed[0] = committed[0] % 399 + 1
    place = TopicPartition(topic, 0, committed[0])
    consumer.commit(offsets=[place], asynchronous=False)


def test_no_cluster_is_one_line(nowhere: Command) -> None:
    assert "127.0.0.1:1" in nowhere.fail("doctor", "--for", "1s", code=2)


@on_penstock
def test_group_that_is_not_there(command: Command) -> None:
    assert command.fail("doctor", "nobody", "--for", "1s", code=2).startswith(
        "there is no group nobody"
    )
    assert "no duration" in command.fail("doctor", "--for", "soon", code=2)
