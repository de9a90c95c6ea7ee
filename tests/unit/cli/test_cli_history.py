"""What brokers did in the last days: added up, shown, and asked of clusters that keep no past."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from confluent_kafka import Producer

from penstock.cli.history.usage import DAY_MS, alarms, thin_hours, usage_of
from penstock.model.figures import HOUR_MS, DiskFigures, Figures
from penstock.testing.broker import Broker
from tests.unit.cli.command_server import CommandServer
from tests.unit.cli.conftest import Command

START_MS = 20_000 * DAY_MS


def hour(number: int, bytes_in: int, broker: int = 1, share: float = 1.0) -> Figures:
    begin = START_MS + number * HOUR_MS
    return Figures(broker, begin, begin + int(HOUR_MS * share), bytes_in=bytes_in, bytes_out=7)


def minute(number: int, at: int, bytes_in: int, broker: int = 1) -> Figures:
    begin = START_MS + number * HOUR_MS + at * 60_000
    return Figures(broker, begin, begin + 60_000, bytes_in=bytes_in)


def test_hours_are_added_up_to_days_with_the_busiest() -> None:
    hours = [hour(each, 3600 * (50 if each == 30 else 10)) for each in range(48)]
    (usage,) = usage_of(hours, [])
    assert [each.from_ms for each in usage.spans] == [START_MS, START_MS + DAY_MS]
    assert usage.total_in == 3600 * (47 * 10 + 50)
    assert (usage.peak.from_ms, usage.peak_s) == (START_MS + DAY_MS, 50.0)
    assert usage.peak.peak_ms == START_MS + 30 * HOUR_MS
    (by_hour,) = usage_of(hours, [], HOUR_MS)
    assert by_hour.peak.from_ms == START_MS + 30 * HOUR_MS


def test_intervals_stand_in_for_an_hour_that_is_not_whole() -> None:
    """A broker was stopped after a quarter of the hour, came back, and was killed."""
    hours = [hour(0, 100), hour(1, 25, share=0.25), hour(0, 5, broker=2), hour(1, 5, broker=2)]
    now_ms = START_MS + 2 * HOUR_MS + 120_000
    assert thin_hours(hours, START_MS, now_ms) == [START_MS + HOUR_MS, START_MS + 2 * HOUR_MS]
    minutes = [minute(1, at, 2) for at in range(50)] + [minute(2, 0, 9, broker=2)]
    first, second = usage_of(hours, minutes, HOUR_MS)
    assert [each.figures.bytes_in for each in first.spans] == [100, 100]
    assert [each.figures.bytes_in for each in second.spans] == [5, 5, 9]


def test_without_any_hour_all_intervals_are_read() -> None:
    now_ms = START_MS + 30 * HOUR_MS
    assert thin_hours([], START_MS, now_ms) == [START_MS + n * HOUR_MS for n in range(30)]
    assert len(thin_hours([], START_MS, START_MS + 100 * DAY_MS)) == 72


def test_alarm_at_sixty_percent() -> None:
    (usage,) = usage_of([replace(hour(0, 3600 * 60), disks=(DiskFigures("/d", 70, 100),))], [])
    network, disk = alarms(usage, 100)
    assert "60% of what it can" in network
    assert "/d of broker 1 is 70% full" in disk
    assert alarms(usage, 101) == [disk]
    assert alarms(usage, None) == [disk]


def test_usage_of_a_broker_that_keeps_its_past(
    penstock_factory: Callable[..., Broker], command_server: CommandServer
) -> None:
    broker = penstock_factory(
        {"penstock.metrics.topic.enable": True, "penstock.metrics.topic.interval.ms": 1000}
    )
    command = Command(broker.bootstrap_servers, command_server)
    command.run("topics", "create", "orders", "-p", "1")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for _ in range(100):
        producer.produce("orders", b"x" * 1000)
    assert producer.flush(30) == 0
    (found,) = wait_bytes(command, 100_000)
    assert found["broker"] == 1
    assert sum(each["bytes_in"] for each in found["spans"]) == found["bytes_in"]
    assert found["spans"][-1]["records_in"] >= 100
    # From hours and intervals together, after a stop that wrote a sum and a kill that did not.
    broker.stop()
    broker.start()
    producer.produce("orders", b"x" * 1000)
    assert producer.flush(30) == 0
    wait_bytes(command, found["bytes_in"] + 1000)
    broker.kill()
    broker.start()
    wait_bytes(command, found["bytes_in"] + 1000)
    page = command.run("brokers", "usage", "1", "--days", "1", "--hourly", "--capacity", "1")
    assert page.lines[0].startswith("broker 1: ")
    assert any("█" in each for each in page.lines)
    assert any(each.startswith("warning: broker 1 moved ") for each in page.lines)
    assert "nothing was written down" in command.fail("brokers", "usage", "7")
    assert "--capacity" in command.fail("brokers", "usage", "--capacity", "much", code=2)


def wait_bytes(command: Command, bytes_in: int) -> Any:
    until = time.monotonic() + 60
    while True:
        answer = command.try_run("brokers", "usage", "--json")
        found = answer.json if not answer.code else []
        if found and found[0]["bytes_in"] >= bytes_in:
            return found
        assert time.monotonic() < until, answer
        time.sleep(0.3)


def test_without_a_past_one_line_says_so(command: Command, nowhere: Command) -> None:
    assert command.fail("brokers", "usage").startswith("no past is kept: ")
    assert "127.0.0.1:1" in nowhere.fail("brokers", "usage")
