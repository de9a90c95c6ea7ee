"""The virtual loop: time jumps, order is kept, threads are none, and the dead do nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest

from penstock.testing.simulation.loop import SimulationError, VirtualLoop
from penstock.testing.simulation.process import Process, ProcessKilled

SOON_S = 0.001
"""More than a few callbacks take."""


@pytest.fixture
def loop() -> VirtualLoop:
    return VirtualLoop(Random(1))


def spawn(loop: VirtualLoop, process: Process, work: Coroutine[Any, Any, Any]) -> Any:
    return process.run(loop.create_task, work)


def test_time_jumps_to_the_next_timer(loop: VirtualLoop) -> None:
    async def work() -> list[float]:
        seen = []
        for pause_s in (0.5, 3600.0, 86_400.0):
            await asyncio.sleep(pause_s)
            seen.append(asyncio.get_running_loop().time())
        return seen

    seen = loop.run_until_complete(work())
    assert seen == pytest.approx([0.5, 3600.5, 90_000.5], abs=SOON_S)
    assert loop.steps < 20


def test_it_never_runs_beyond_the_time_it_is_given(loop: VirtualLoop) -> None:
    rung: list[float] = []
    loop.call_later(10, lambda: rung.append(loop.time()))
    assert not loop.run_until(lambda: False, 9.5)
    assert (loop.time(), rung) == (9.5, [])
    loop.run_until(lambda: False, 20)
    assert rung == pytest.approx([10], abs=SOON_S)


def test_callbacks_keep_their_order_and_timers_theirs(loop: VirtualLoop) -> None:
    seen: list[int] = []
    loop.call_later(2, seen.append, 5)
    loop.call_later(1, seen.append, 3)
    loop.call_at(1, seen.append, 4)
    loop.call_later(1, seen.append, 99).cancel()
    loop.call_soon(seen.append, 1)
    loop.call_soon(seen.append, 2)
    loop.run_until(lambda: False, 10)
    assert seen == [1, 2, 3, 4, 5]


def test_timeouts_and_locks_work_as_ever(loop: VirtualLoop) -> None:
    async def work() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.Event().wait()
        lock = asyncio.Lock()
        seen: list[int] = []

        async def one(number: int) -> None:
            async with lock:
                await asyncio.sleep(1)
                seen.append(number)

        await asyncio.gather(*(one(number) for number in range(5)))
        assert seen == list(range(5))

    loop.run_until_complete(work())
    assert loop.time() == pytest.approx(10, abs=SOON_S)


def test_who_polls_gets_there_in_the_end(loop: VirtualLoop) -> None:
    async def work() -> None:
        until = loop.time() + 0.01
        while loop.time() < until:
            await asyncio.sleep(0)

    loop.run_until_complete(work())


def test_work_for_threads_is_done_later_and_in_this_one(loop: VirtualLoop) -> None:
    async def work() -> None:
        seen: list[str] = []
        thread = asyncio.ensure_future(asyncio.to_thread(seen.append, "thread"))
        await asyncio.sleep(0)
        seen.append("loop")
        await thread
        assert seen == ["loop", "thread"]
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 // 0)

    loop.run_until_complete(work())


def test_calls_from_threads_keep_their_order(loop: VirtualLoop) -> None:
    seen: list[int] = []
    for number in range(100):
        loop.call_soon_threadsafe(seen.append, number)
    loop.run_until(lambda: False, 1)
    assert seen == list(range(100))


def test_waiting_for_nothing_is_an_error(loop: VirtualLoop) -> None:
    async def work() -> None:
        await asyncio.Event().wait()

    process = Process("client")
    task = spawn(loop, process, work())
    with pytest.raises(SimulationError):
        loop.run_until_complete(task)
    process.kill()
    process.bury()


def test_a_killed_process_does_nothing_more(loop: VirtualLoop) -> None:
    one, other = Process("one"), Process("other")
    seen: list[str] = []

    async def work(name: str) -> None:
        asyncio.get_running_loop().call_later(5, seen.append, f"{name} timer")
        inner = asyncio.create_task(asyncio.sleep(5))
        await asyncio.to_thread(seen.append, f"{name} thread")
        await inner
        seen.append(f"{name} end")

    for process in (one, other):
        spawn(loop, process, work(process.host))
    loop.run_until(lambda: False, 1)
    one.kill()
    one.bury()
    loop.run_until(lambda: False, 10)
    assert sorted(seen) == ["one thread", "other end", "other thread", "other timer"]


def test_killed_in_the_middle_it_gets_no_further(loop: VirtualLoop) -> None:
    process = Process("one")
    seen: list[str] = []

    async def work() -> None:
        seen.append("begin")
        process.kill()
        raise ProcessKilled

    spawn(loop, process, work())
    loop.run_until(lambda: False, 1)
    process.bury()
    assert seen == ["begin"]
    assert loop.unexpected == []


def test_an_error_nobody_hears_of_is_kept(loop: VirtualLoop) -> None:
    told: list[dict[str, Any]] = []
    process = Process("one")

    def begin() -> None:
        loop.set_exception_handler(lambda _, context: told.append(context))
        loop.call_soon(_fail)

    process.run(begin)
    loop.run_until(lambda: False, 1)
    assert len(told) == len(loop.unexpected) == 1
    assert "one#0" in loop.unexpected[0] and "ZeroDivisionError" in loop.unexpected[0]


def _fail() -> None:
    _ = 1 // 0


def test_many_cancelled_timers_do_not_pile_up(loop: VirtualLoop) -> None:
    keep: Callable[[], None] = lambda: None  # noqa: E731
    for _ in range(10_000):
        loop.call_later(1000, keep).cancel()
    assert len(loop._timers) < 1000
