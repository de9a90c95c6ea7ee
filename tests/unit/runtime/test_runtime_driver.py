"""The driver over a counting machine and a journal whose commits the test holds in its hand."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

import pytest

from penstock.machine import Decision, Parked, TimerCancel, TimerKey, TimerSet
from penstock.model.error import ApiError, ErrorCode, InvariantError, StorageError
from penstock.network.later import Later
from penstock.runtime import JournalError, Runtime


class Counter:
    """Adds numbers; refuses to pass a hundred."""

    def __init__(self) -> None:
        self.total = 0
        self.offsets: list[int] = []
        self.expired: list[tuple[TimerKey, int]] = []

    def replay(self, record: int, offset: int) -> None:
        if record < 0:
            raise InvariantError("negative")
        self.total += record
        self.offsets.append(offset)

    def add(self, *records: int) -> Decision[int, int]:
        if self.total + sum(records) > 100:
            raise ApiError(ErrorCode.INVALID_REQUEST, "too much")
        return Decision(records, self.total + sum(records))

    def look(self) -> Decision[int, int]:
        return Decision((), self.total)

    def expire(self, key: TimerKey, now_ms: int) -> Decision[int, None]:
        self.expired.append((key, now_ms))
        return Decision([7], None)


class Held:
    """Commits when told to."""

    def __init__(self, stored: Sequence[int] = ()) -> None:
        self.records = list(stored)
        self.committed = len(self.records)
        self.refusal: Exception | None = None
        self.failure: Exception | None = None
        self.waits = 0
        self._moved = asyncio.Event()

    @property
    def end_offset(self) -> int:
        return len(self.records)

    def append(self, records: Sequence[int]) -> int:
        if self.refusal is not None:
            raise self.refusal
        self.records += records
        return len(self.records) - len(records)

    def is_committed(self, end_offset: int) -> bool:
        return end_offset <= self.committed

    async def wait_committed(self, end_offset: int) -> None:
        self.waits += 1
        while self.committed < end_offset:
            if self.failure is not None:
                raise self.failure
            self._moved.clear()
            await self._moved.wait()

    def load(self) -> Iterator[tuple[int, int]]:
        return iter(list(enumerate(self.records)))

    def commit(self) -> None:
        self.committed = len(self.records)
        self._moved.set()

    def fail(self, error: Exception) -> None:
        self.failure = error
        self._moved.set()


class LoopClock:
    def now_ms(self) -> int:
        return int(asyncio.get_running_loop().time() * 1000)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def start(journal: Held, **options: Any) -> Runtime[Counter, int]:
    return Runtime(Counter(), journal, LoopClock(), **options)


def submit(runtime: Runtime[Counter, int], *records: int) -> asyncio.Task[int]:
    return asyncio.create_task(runtime.submit(lambda machine: machine.add(*records)))


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_the_reply_waits_for_the_commit_but_the_next_decision_does_not() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        first, second = submit(runtime, 5), submit(runtime, 6, 1)
        await settle()
        assert runtime.machine.total == 12, "decided on what is written, not on what is committed"
        assert not first.done() and not second.done()
        journal.commit()
        assert [await first, await second] == [5, 12]
        assert runtime.machine.offsets == [0, 1, 2]

    run(story())


def test_a_reply_that_waits_too_long_is_given_up_and_nothing_else() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        patient = submit(runtime, 5)
        await settle()
        with pytest.raises(ApiError) as refused:
            await runtime.submit(lambda machine: machine.add(6), limit_s=0)
        assert refused.value.code is ErrorCode.REQUEST_TIMED_OUT
        with pytest.raises(ApiError):
            await runtime.submit(lambda machine: machine.look(), limit_s=0)
        assert runtime.failure is None
        assert not patient.done()
        assert runtime.machine.total == 11
        journal.commit()
        assert await patient == 5
        assert await runtime.submit(lambda machine: machine.look(), limit_s=60) == 11
        assert runtime.pending_count == 0

    run(story())


def test_what_arrives_during_a_flush_shares_the_next_one() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        tasks = [submit(runtime, 1)]
        await settle()
        tasks += [submit(runtime, 1) for _ in range(20)]
        await settle()
        assert journal.waits == 1
        journal.commit()
        await asyncio.gather(*tasks)
        assert journal.waits == 2

    run(story())


def test_a_reply_without_records_waits_for_what_it_may_have_seen() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        assert await runtime.submit(Counter.look) == 0, "nothing written, nothing to wait for"
        write = submit(runtime, 5)
        await settle()
        look = asyncio.create_task(runtime.submit(Counter.look))
        await settle()
        assert not look.done()
        journal.commit()
        assert (await look, await write) == (5, 5)

    run(story())


def test_a_refused_request_changes_nothing() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        with pytest.raises(ApiError, match="too much"):
            await submit(runtime, 101)
        assert (runtime.machine.total, journal.records, runtime.failure) == (0, [], None)

    run(story())


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "no"), id="a full disk"),
        pytest.param(ValueError("no"), id="a value that no record can carry"),
    ],
)
def test_what_cannot_be_written_is_refused_alone_and_spares_the_machine(refusal: Exception) -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        journal.refusal = refusal
        with pytest.raises(ApiError, match="no"):
            await submit(runtime, 5)
        assert runtime.machine.total == 0
        journal.refusal = None
        again = submit(runtime, 6)
        await settle()
        journal.commit()
        assert await again == 6

    run(story())


def test_a_failed_commit_stops_everything_and_a_reload_starts_anew() -> None:
    async def story() -> None:
        journal = Held([1])
        runtime = start(journal)
        assert runtime.load() == 1
        tasks = [submit(runtime, 5), submit(runtime, 6)]
        await settle()
        cause = StorageError("fsync failed")
        journal.fail(cause)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(one, JournalError) and one.__cause__ is cause for one in results)
        assert runtime.failure is cause and runtime.pending_count == 0
        with pytest.raises(JournalError):
            await submit(runtime, 1)
        # What is really in the log decides: here the uncommitted records were lost.
        reloaded = start(Held(journal.records[: journal.committed]))
        assert reloaded.load() == 1
        assert reloaded.machine.total == 1

    run(story())


def test_a_broken_write_or_replay_stops_the_machine() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        journal.refusal = StorageError("no such device")
        with pytest.raises(StorageError, match="no such device"):
            await submit(runtime, 5)
        with pytest.raises(JournalError, match="no such device"):
            await submit(runtime, 5)
        broken = start(Held())
        with pytest.raises(InvariantError):
            await submit(broken, -1)
        assert isinstance(broken.failure, InvariantError)

    run(story())


def test_commits_are_told_in_order_before_the_replies() -> None:
    async def story() -> None:
        told: list[object] = []
        journal = Held()
        runtime = start(journal, on_commit=lambda records, base: told.append((base, *records)))
        tasks = [submit(runtime, 5), submit(runtime), submit(runtime, 6, 7)]
        for number, task in enumerate(tasks):
            task.add_done_callback(lambda _, number=number: told.append(f"reply {number}"))
        await settle()
        assert told == []
        journal.commit()
        await asyncio.gather(*tasks)
        assert [one for one in told if isinstance(one, tuple)] == [(0, 5), (1, 6, 7)]
        assert told.index((1, 6, 7)) < told.index("reply 2")

    run(story())


def test_a_listener_that_fails_leaves_nobody_waiting() -> None:
    async def story() -> None:
        def listen(records: Sequence[int], base: int) -> None:
            raise InvariantError("cannot apply")

        journal = Held()
        runtime = start(journal, on_commit=listen)
        task = submit(runtime, 5)
        await settle()
        journal.commit()
        with pytest.raises(JournalError, match="cannot apply"):
            await task

    run(story())


def test_a_caller_that_leaves_undoes_nothing() -> None:
    async def story() -> None:
        told: list[int] = []
        journal = Held()
        runtime = start(journal, on_commit=lambda records, base: told.extend(records))
        task = submit(runtime, 5)
        await settle()
        task.cancel()
        await settle()
        journal.commit()
        await settle()
        assert told == [5] and runtime.machine.total == 5
        await runtime.close()

    run(story())


def test_parked_callers_are_answered_by_a_later_decision_at_its_commit() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        joined = asyncio.create_task(runtime.submit(lambda _: Decision((), Parked("member"))))
        await settle()
        assert not joined.done()
        done = asyncio.create_task(
            runtime.submit(lambda _: Decision([1], "ok", answers=[("member", "go"), ("x", 0)]))
        )
        await settle()
        assert not joined.done(), "the answer is as good as the records it came with"
        journal.commit()
        assert (await joined, await done) == ("go", "ok")
        assert not runtime._parked

    run(story())


def test_a_parked_caller_that_leaves_is_forgotten() -> None:
    async def story() -> None:
        runtime = start(Held())
        parked = [
            asyncio.create_task(runtime.submit(lambda _: Decision((), Parked("member"))))
            for _ in range(2)
        ]
        await settle()
        with pytest.raises(InvariantError, match="two callers"):
            await parked[1]
        parked[0].cancel()
        await settle()
        assert not runtime._parked

    run(story())


def test_soft_state_is_adopted_only_if_the_write_succeeds() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        adopted: list[int] = []

        def decide(machine: Counter) -> Decision[int, None]:
            return Decision([1], None, adopt=lambda: adopted.append(machine.total))

        journal.refusal = ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "no space")
        with pytest.raises(ApiError):
            await runtime.submit(decide)
        assert adopted == []
        journal.refusal = None
        task = asyncio.create_task(runtime.submit(decide))
        await settle()
        assert adopted == [1], "after the replay"
        journal.commit()
        await task

    run(story())


def test_timers_fire_once_and_write_what_they_decide() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        now = LoopClock().now_ms()
        timers = [TimerSet("soon", now + 20), TimerSet("never", now + 10), TimerCancel("never")]
        await runtime.submit(lambda _: Decision((), None, timers))
        await asyncio.sleep(0.08)
        assert [key for key, _ in runtime.machine.expired] == ["soon"]
        assert journal.records == [7] and runtime.machine.total == 7
        journal.commit()
        await runtime.close()

    run(story())


def test_a_timer_that_fails_stops_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    class Faulty(Counter):
        def expire(self, key: TimerKey, now_ms: int) -> Decision[int, None]:
            if key == "forged":
                raise InvariantError("this entity makes no sense")
            return super().expire(key, now_ms)

    async def story() -> None:
        journal = Held()
        runtime: Runtime[Counter, int] = Runtime(Faulty(), journal, LoopClock())
        now = LoopClock().now_ms()
        timers = [TimerSet("forged", now + 10), TimerSet("soon", now + 20)]
        await runtime.submit(lambda _: Decision((), None, timers))
        await asyncio.sleep(0.08)
        assert runtime.failure is None
        assert [key for key, _ in runtime.machine.expired] == ["soon"]
        journal.commit()
        await runtime.close()

    run(story())
    assert [one.getMessage() for one in caplog.records] == ["timer failed"]


def test_a_record_without_a_place_ends_the_load_unless_somebody_is_told() -> None:
    runtime = Runtime(Counter(), Held([1, -1, 2]), LoopClock())
    with pytest.raises(InvariantError):
        runtime.load()
    told: list[int] = []
    runtime = Runtime(Counter(), Held([1, -1, 2]), LoopClock())
    assert runtime.load(lambda offset, error: told.append(offset)) == 3
    assert (runtime.machine.total, told) == (3, [1])


def test_asking_gives_the_reply_itself_where_nothing_is_waited_for() -> None:
    async def story() -> None:
        journal = Held([3])
        runtime = start(journal)
        runtime.load()
        assert runtime.ask(lambda machine: machine.look()) == 3
        journal.committed = 100
        assert runtime.ask(lambda machine: machine.add(4)) == 7, "safe as soon as it is written"
        journal.committed = len(journal.records)
        written = runtime.ask(lambda machine: machine.add(5))
        behind = runtime.ask(lambda machine: machine.look())
        assert isinstance(written, Later) and isinstance(behind, Later)
        heard: list[int] = []
        written.listen(heard.append)
        behind.listen(heard.append)
        await settle()
        assert heard == []
        journal.commit()
        await settle()
        assert heard == [12, 12]

    run(story())


def test_asking_and_being_parked_and_leaving() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        first = runtime.ask(lambda _: Decision((), Parked("a")))
        second = runtime.ask(lambda _: Decision((), Parked("b")))
        assert isinstance(first, Later) and isinstance(second, Later)
        first.cancel()
        assert list(runtime._parked) == ["b"]
        heard: list[object] = []
        second.listen(heard.append)
        runtime.ask(lambda _: Decision((), None, answers=[("b", "hello")]))
        assert heard == ["hello"]
        journal.refusal = ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "no space")
        with pytest.raises(ApiError):
            runtime.ask(lambda _: Decision([1], Parked("c")))
        assert not runtime._parked

    run(story())


def test_who_ends_the_waiting_of_others_does_not_wait_itself() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        first = runtime.ask(lambda _: Decision((), Parked("a")))
        assert isinstance(first, Later)
        heard: list[object] = []
        first.listen(heard.append)
        answers = [("a", "go, a"), ("b", "go, b")]
        assert runtime.ask(lambda _: Decision((), Parked("b"), answers=answers)) == "go, b"
        assert heard == ["go, a"]
        last = runtime.ask(lambda _: Decision([1], Parked("c"), answers=[("c", "written")]))
        assert isinstance(last, Later)
        last.listen(heard.append)
        await settle()
        assert heard == ["go, a"], "its answer is as good as the records it came with"
        journal.commit()
        await settle()
        assert heard == ["go, a", "written"] and not runtime._parked

    run(story())


def test_who_waits_when_the_journal_fails_is_told() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        errors: list[Exception] = []
        for decide in (
            lambda _: Decision((), Parked("a")),
            lambda machine: machine.add(1),
        ):
            waiting = runtime.ask(decide)
            assert isinstance(waiting, Later)
            waiting.listen(lambda _: None, errors.append)
        unheard = runtime.ask(lambda machine: machine.add(2))
        assert isinstance(unheard, Later)
        await runtime_fails(runtime)
        assert [type(error) for error in errors] == [JournalError, JournalError]
        assert not runtime._parked and not runtime.pending_count

    run(story())


async def runtime_fails(runtime: Runtime[Counter, int]) -> None:
    await settle()
    runtime.fail(OSError("no disk"))
    await settle()


def test_a_deadline_that_is_put_off_does_not_touch_the_alarm_and_still_fires() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        now = LoopClock().now_ms()
        runtime.ask(lambda _: Decision((), None, [TimerSet("late", now + 30)]))
        alarm = runtime._alarm
        runtime.ask(lambda _: Decision((), None, [TimerSet("late", now + 60)]))
        assert runtime._alarm is alarm
        runtime.ask(lambda _: Decision((), None, [TimerSet("soon", now + 10)]))
        assert runtime._alarm is not alarm, "an earlier one brings it forward"
        await asyncio.sleep(0.2)
        assert [key for key, _ in runtime.machine.expired] == ["soon", "late"]
        assert runtime.machine.expired[1][1] >= now + 60
        journal.commit()
        await runtime.close()

    run(story())


def test_closing_answers_what_was_written_and_takes_nothing_more() -> None:
    async def story() -> None:
        journal = Held()
        runtime = start(journal)
        task = submit(runtime, 5)
        await settle()
        closing = asyncio.create_task(runtime.close())
        await settle()
        assert not closing.done()
        journal.commit()
        assert await task == 5
        await closing
        with pytest.raises(JournalError):
            await submit(runtime, 5)

    run(story())
