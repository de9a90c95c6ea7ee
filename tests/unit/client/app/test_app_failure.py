"""Records whose handler fails: retries, retry topics, dead letters, crashes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.main import main
from penstock.client import App, DeadLetters, Message, PoisonError, Retry
from penstock.client.app.clock import Clock
from tests.patience import wait_until
from tests.unit.client.app.app_kit import Target


def said_by(record: Any) -> dict[str, str]:
    return {key: (value or b"").decode() for key, value in record.headers}


def test_thirty_minutes_of_retries(target: Target, name: str) -> None:
    app = App(name)
    tried: list[tuple[int, int]] = []
    places: set[tuple[str, int, int]] = set()

    @app.consumer(name, retry=Retry("1m", "5m", "30m"), dead_letters=f"{name}.dead-letters")
    async def handle(value: dict[str, int], message: Message) -> None:
        tried.append((value["n"], message.attempt))
        if value["n"] == 1:
            places.add((message.topic, message.partition, message.offset))
            raise OSError("the bank is away")

    with app.test(target) as test:
        for n in range(3):
            test.send(name, {"n": n}, key="same")
        test.advance("10s")
        assert tried == [(0, 1), (1, 1), (1, 2), (1, 3), (2, 1)]
        test.advance("59s")
        assert tried[5:] == [(1, 4)]
        test.advance("4m")
        assert tried[6:] == []
        test.advance("2m")
        assert tried[6:] == [(1, 5)]
        assert test.read(f"{name}.dead-letters") == []
        test.advance("30m")
        assert tried[7:] == [(1, 6)]
        (letter,) = test.read(f"{name}.dead-letters")
    said = said_by(letter)
    assert len(places) == 1, "a retry looks as the first time did"
    (place,) = places
    assert (said["penstock.dlq.topic"], said["penstock.dlq.offset"]) == (name, str(place[2]))
    assert (said["penstock.dlq.class"], said["penstock.dlq.attempt"]) == ("transient", "6")
    assert (said["penstock.dlq.error"], said["penstock.dlq.pipeline"]) == ("OSError", name)
    assert "penstock.retry.due" not in said


def test_what_a_handler_waits_for_is_cancelled_by_others(target: Target, name: str) -> None:
    """A failure like others; the only worker goes on."""
    app = App(name)
    tried: list[tuple[int, int]] = []

    @app.consumer(name, concurrency=1)
    async def handle(value: int, message: Message) -> None:
        tried.append((value, message.attempt))
        if value == 0 and message.attempt == 1:
            given_up = asyncio.get_running_loop().create_future()
            given_up.cancel()
            await given_up

    with app.test(target) as test:
        test.send(name, 0, key="same")
        test.send(name, 1, key="same")
        test.advance("10s")
    assert tried == [(0, 1), (0, 2), (1, 1)]


class SetBack(Clock):
    behind_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() - self.behind_ms


def test_a_clock_that_is_set_back_delays_no_attempt(target: Target, name: str) -> None:
    app = App(name)
    clock = SetBack()
    tried: list[tuple[int, int]] = []

    @app.consumer(name, retry=Retry(backoff="1s"))
    async def handle(value: int, message: Message) -> None:
        tried.append((value, message.attempt))
        if value == 1:
            clock.behind_ms = 3_600_000
        elif message.attempt == 1:
            raise OSError("away")

    test = app.test(target)
    test.clock = clock  # type: ignore[attr-defined]
    with test:
        target.produce(name, [("a", "0"), ("b", "1")], partition=0)
        wait_until(lambda: (0, 2) in tried, "it is tried again")


CURRENCIES = {"EUR": 2, "JPY": 0}


@dataclass
class Price:
    currency: str

    def __post_init__(self) -> None:
        self.digits = CURRENCIES[self.currency]


def test_a_value_that_its_class_refuses_is_poison_like_others(target: Target, name: str) -> None:
    """With an error of any kind: it ends neither the worker nor the application."""
    app = App(name)
    seen: list[int] = []

    @app.consumer(name, concurrency=1)
    async def handle(value: Price) -> None:
        seen.append(value.digits)

    with app.test(target) as test:
        for currency in ("EUR", "XXX", "JPY"):
            test.send(name, {"currency": currency}, key="same")
        test.finish()
        (letter,) = test.read(f"{name}.dead-letters")
    assert seen == [2, 0]
    said = said_by(letter)
    assert (said["penstock.dlq.error"], said["penstock.dlq.class"]) == ("KeyError", "poison")


class Panic(BaseException):
    """As extension modules raise it: no Exception."""


@pytest.mark.parametrize("kind", ["async", "plain"])
def test_a_panic_is_a_failure_of_its_record(target: Target, name: str, kind: str) -> None:
    app = App(name)
    tried: list[tuple[int, int]] = []

    def handle(value: int, message: Message) -> None:
        tried.append((value, message.attempt))
        if value == 0:
            raise Panic("index out of bounds")

    async def handle_async(value: int, message: Message) -> None:
        handle(value, message)

    app.consumer(name, concurrency=1)(handle if kind == "plain" else handle_async)
    with app.test(target) as test:
        test.send(name, 0, key="same")
        test.send(name, 1, key="same")
        test.finish()
        (letter,) = test.read(f"{name}.dead-letters")
    assert tried == [(0, 1), (0, 2), (0, 3), (1, 1)]
    assert said_by(letter)["penstock.dlq.error"] == "Panic"


@pytest.mark.parametrize("delivery", ["at-least-once", "exactly-once"])
def test_the_largest_record_of_a_topic_fits_among_its_letters(
    target: Target, name: str, delivery: Any
) -> None:
    """And in its retry topics, with all that is said of it."""
    target.create_topic(name, config={"max.message.bytes": 3_000_000})
    app = App(name)

    @app.consumer(name, retry=Retry("1m", attempts=1), delivery=delivery)
    async def handle(value: bytes) -> None:
        raise OSError("away: " + "y" * 10_000)

    large = os.urandom(2_999_000)
    with app.test(target) as test:
        target.produce(name, [large], settings={"message.max.bytes": 4_000_000})
        test.finish()
        (letter,) = test.read(f"{name}.dead-letters")
    assert letter.value == large


class Silent(PoisonError):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize("error", [PoisonError("x" * 2_000_000), Silent()], ids=["long", "silent"])
def test_whatever_an_error_says_its_letter_is_written(
    target: Target, name: str, error: Exception
) -> None:
    """With the whole answer of a service in it, or nothing: its record is not in the way."""
    app = App(name)
    seen: list[int] = []

    @app.consumer(name)
    async def handle(value: int) -> None:
        if value == 0:
            raise error
        seen.append(value)

    with app.test(target) as test:
        test.send(name, 0, key="same")
        test.send(name, 1, key="same")
        test.finish()
        (letter,) = test.read(f"{name}.dead-letters")
    assert seen == [1]
    assert 0 < len(said_by(letter)["penstock.dlq.message"]) <= 4_000


def test_a_delay_holds_its_own_topic_alone(target: Target, name: str) -> None:
    """Far more wait for a retry than fit in memory; what comes meanwhile is handled."""
    app = App(name)
    seen: list[int] = []

    @app.consumer(name, retry=Retry("10m", attempts=1), buffer=50)
    async def handle(value: int, message: Message) -> None:
        if value < 200 and message.attempt == 1:
            raise OSError("away")
        seen.append(value)

    target.create_topic(name)
    with app.test(target) as test:
        target.produce(name, [str(n) for n in range(200)])
        test.settle()
        target.produce(name, [str(n) for n in range(200, 300)])
        test.settle()
        assert seen == list(range(200, 300))
        test.advance("11m")
        assert sorted(seen[100:]) == list(range(200))


def test_poison_goes_at_once_and_the_record_is_named(target: Target, name: str) -> None:
    app = App(name)
    tried: list[str] = []
    dead = DeadLetters(f"{name}.dead-letters", retention="90d", owner="billing")

    @app.consumer(name, retry=Retry("1m"), dead_letters=dead)
    async def handle(value: dict[str, str]) -> None:
        tried.append(value["do"])
        if value["do"] == "poison":
            raise PoisonError("no such customer")
        if value["do"] == "exit":
            sys.exit(3)

    target.create_topic(name)
    with app.test(target) as test:
        target.produce(name, [b"{", None, b"[]"])
        for what in ("poison", "exit", "work"):
            test.send(name, {"do": what})
        test.settle()
        letters = {each.value: said_by(each) for each in test.read(dead.topic)}
    assert tried == ["poison", "exit", "work"]
    errors = [each["penstock.dlq.error"] for each in letters.values()]
    assert sorted(errors) == ["DecodeError"] * 3 + ["PoisonError", "SystemExit"]
    assert {each["penstock.dlq.class"] for each in letters.values()} == {"poison"}
    assert {each["penstock.dlq.owner"] for each in letters.values()} == {"billing"}
    assert f"{name}-0 offset 0" in letters[b"{"]["penstock.dlq.message"]
    assert "value is list, not dict" in letters[b"[]"]["penstock.dlq.message"]


def test_what_cannot_be_sent_is_a_failure_of_its_record(
    target: Target, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A handler returns what has no JSON form, or anything where there is no output."""
    app, silent = App(name), App(f"{name}-2")

    @app.consumer(name, output=f"{name}.out")
    async def handle(value: int) -> object:
        return {value} if value == 1 else value

    @silent.consumer(name)
    async def handle_silently(value: int) -> int:
        return value

    target.create_topic(name)
    with app.test(target) as test, silent.test(target) as other:
        target.produce(name, ["0", "1", "2"], partition=0)
        test.settle()
        other.settle()
        (letter,) = test.read(f"{name}.dead-letters")
        assert sorted(each.value or b"" for each in test.read(f"{name}.out")) == [b"0", b"2"]
        assert other.read(f"{name}-2.dead-letters") == []
    said = said_by(letter)
    assert (letter.value, said["penstock.dlq.error"]) == (b"1", "TypeError")
    assert f"{name}: {name}-0 offset 1: TypeError" in caplog.text
    assert "handle_silently returned int, and has no output" in caplog.text


def test_logs_name_the_record_as_it_was_at_first(
    target: Target, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = App(name)

    @app.consumer(name, retry=Retry("1m", attempts=1))
    async def handle(value: int) -> None:
        raise OSError("two\nlines")

    target.create_topic(name)
    with app.test(target) as test:
        target.produce(name, ["0"], partition=0)
        test.finish()
    assert f"{name}: {name}-0 offset 0: OSError: two lines; again in 1m" in caplog.text
    dead = f"{name}: {name}-0 offset 0 (retry-1m): OSError: two lines; to the dead letters"
    assert dead in caplog.text


def test_with_order_kept_a_key_waits_and_others_do_not(target: Target, name: str) -> None:
    app = App(name)
    seen: list[str] = []
    is_away = True

    @app.consumer(name, retry=Retry("10m", attempts=1, keep_order=True), concurrency=4)
    async def handle(value: str, message: Message) -> None:
        if message.key == "a" and is_away:
            raise OSError("away")
        seen.append(value)

    target.create_topic(name)
    with app.test(target) as test:
        for value, key in (("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b")):
            target.produce(name, [value], key=key)
        test.settle()
        assert seen == ["b1", "b2"]
        is_away = False
        test.advance("10m")
    assert seen == ["b1", "b2", "a1", "a2"]


def test_letters_are_listed_and_sent_back_to_their_group_alone(
    target: Target, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[tuple[str, int]] = []
    is_away = True

    def app_of(group: str) -> App:
        app = App(group)

        @app.consumer(name, retry=Retry(attempts=1))
        async def handle(value: int, message: Message) -> None:
            if group == name and is_away:
                raise OSError("away")
            seen.append((group, message.attempt))

        return app

    target.create_topic(name)
    servers = ["-b", target.bootstrap_servers]
    with app_of(name).test(target) as test, app_of(f"{name}-2").test(target) as other:
        test.send(name, 7)
        test.settle()
        other.settle()
        assert main([*servers, "dlq", "list", f"{name}.dead-letters"]) == 0
        assert "OSError" in capsys.readouterr().out
        is_away = False
        assert main([*servers, "dlq", "redrive", f"{name}.dead-letters"]) == 0
        test.settle()
        other.settle()
    assert seen == [(f"{name}-2", 1), (name, 2)]


CRASHING = """
import os
from penstock.client import App

app = App({name!r})

@app.consumer({name!r}, concurrency=4, commit_interval="50ms")
def handle(value: int) -> None:
    if value == 5:
        os._exit(7)
    with open({out!r}, "a") as out:
        out.write(f"{{value}}\\n")
    if value == 9:
        import signal
        os.kill(os.getpid(), signal.SIGTERM)
"""


def test_the_third_crash_on_a_record_is_its_last(target: Target, name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "crashing.py").write_text(CRASHING.format(name=name, out=str(out)))
    target.create_topic(name)
    target.produce(name, [str(n) for n in range(10)])
    command = [sys.executable, "-m", "penstock", "app", "run", "crashing.py:app"]
    environment = os.environ | {
        "PENSTOCK_BOOTSTRAP_SERVERS": target.bootstrap_servers,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    codes = []
    for _ in range(6):
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        codes.append(ended.returncode)
        if ended.returncode == 0:
            break
    assert codes == [7, 7, 7, 0], ended.stderr
    assert set(map(int, out.read_text().split())) == set(range(10)) - {5}
    (letter,) = target.read(f"{name}.dead-letters")
    said = said_by(letter)
    assert (letter.value, said["penstock.dlq.error"]) == (b"5", "CrashError")
    assert f"{name}-0 offset 5" in said["penstock.dlq.message"]
