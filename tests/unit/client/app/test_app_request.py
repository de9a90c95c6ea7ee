"""Requests over topics: answered, refused, late, doubled; the answer is what a handler returns."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from penstock.client import App, PoisonError, RequestError, RequestTimeoutError, Retry
from penstock.client.app.request.header import CORRELATION, REPLY_TOPIC
from tests.unit.client.app.app_kit import Target


@dataclass
class Quote:
    item: str
    price: float


def priced(name: str, target: Target, **options: Any) -> App:
    app = App(name, target.bootstrap_servers)

    @app.consumer(name, **options)
    async def price(item: str) -> list[Quote] | Quote | None:
        if item == "broken":
            raise ValueError("no such item")
        if item == "away":
            raise OSError("the database is away")
        if item == "slow":
            await asyncio.sleep(60)
        if item == "nothing":
            return None
        return [Quote("a", 1.0), Quote("b", 2.0)] if item == "all" else Quote(item, 9.5)

    return app


def asked(name: str, target: Target, question: Any) -> None:
    """With an application of its own, on an event loop of its own."""

    async def run() -> None:
        app = App(f"{name}.shop", target.bootstrap_servers)
        try:
            await question(app)
        finally:
            await app.close()

    asyncio.run(asyncio.wait_for(run(), 60))


@pytest.mark.parametrize("delivery", ["at-least-once", "exactly-once"])
def test_what_a_handler_returns_is_the_answer(target: Target, name: str, delivery: str) -> None:
    async def question(app: App) -> None:
        async def ask(item: str, reply: Any = Any) -> Any:
            return await app.request(name, item, timeout="50s", reply=reply)

        assert await ask("x", Quote) == Quote("x", 9.5)
        assert await ask("x") == {"item": "x", "price": 9.5}
        assert await ask("all", list[Quote]) == [Quote("a", 1.0), Quote("b", 2.0)]
        assert await ask("nothing") is None
        answers = await asyncio.gather(*(ask(f"i{n}", Quote) for n in range(200)))
        assert [each.item for each in answers] == [f"i{n}" for n in range(200)]
        with pytest.raises(RequestError, match="ValueError: no such item"):
            await ask("broken")

    served = priced(name, target, delivery=delivery, commit_interval="20ms")
    with served.test(target) as test:
        asked(name, target, question)
        assert len(test.read(f"{name}.dead-letters")) == 1


def test_an_answer_that_does_not_come(target: Target, name: str) -> None:
    async def question(app: App) -> None:
        with pytest.raises(RequestTimeoutError, match="no answer in 1 ms"):
            await app.request(name, "x", timeout="1ms")
        assert await app.request(name, "x", timeout="30s", reply=Quote) == Quote("x", 9.5)
        with pytest.raises(RequestTimeoutError, match="no answer in 300 ms"):
            await app.request(name, "slow", timeout="300ms")
        # Somebody whose name was ours: its answer is not ours.
        said = dict(target.read(name)[0].headers)
        target.produce(
            (said[REPLY_TOPIC] or b"").decode(), [b'"late"'], headers=[(CORRELATION, b"another's")]
        )
        assert await app.request(name, "x", timeout="30s", reply=Quote) == Quote("x", 9.5)

    with priced(name, target, drain="100ms").test(target):
        asked(name, target, question)


def test_a_request_that_nobody_waits_for_is_passed_by(target: Target, name: str) -> None:
    """Also after a retry: its time counts from when it was asked."""
    app = priced(name, target, retry=Retry("1m", attempts=1))

    retries = f"{name}.{name}.retry-1m"

    async def question(asking: App) -> None:
        waiting = asyncio.create_task(asking.request(name, "away", timeout="30s"))
        while not await asyncio.to_thread(test.read, retries):
            await asyncio.sleep(0.05)
        waiting.cancel()

    with app.test(target) as test:
        asked(name, target, question)
        test.settle()
        assert len(test.read(retries)) == 1
        test.advance("2m")
        assert test.read(f"{name}.dead-letters") == []


def test_one_who_cannot_be_answered_is_not_in_the_way(target: Target, name: str) -> None:
    """A failure goes to the dead letters once, whether or not who asked can be told of it."""
    app = App(name)
    seen: list[int] = []

    @app.consumer(name)
    async def handle(value: int) -> None:
        seen.append(value)
        if value == 0:
            raise PoisonError("bad")

    nowhere = {"penstock.reply.topic": "no such topic!", "penstock.correlation.id": "1"}
    with app.test(target) as test:
        test.send(name, 0, key="same", headers=nowhere)
        test.send(name, 1, key="same")
        test.finish()
        assert len(test.read(f"{name}.dead-letters")) == 1
    assert seen == [0, 1]


def test_a_handler_asks(target: Target, name: str) -> None:
    prices = priced(f"{name}.prices", target)
    orders = App(name, target.bootstrap_servers)

    @orders.consumer(name, output=f"{name}.out")
    async def order(item: str) -> dict[str, Any]:
        quote = await orders.request(f"{name}.prices", item, reply=Quote)
        return {"total": quote.price * 2}

    with prices.test(target), orders.test(target) as test:
        test.send(name, "x")
        test.settle()
        (out,) = test.read(f"{name}.out")
        assert out.value == b'{"total":19.0}'
