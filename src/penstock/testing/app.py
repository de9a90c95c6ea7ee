"""An application under test: its handlers, a real broker, and time that the test moves."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.client.app.clock import Clock
from penstock.client.app.codec import encode
from penstock.client.app.running import RunningApp
from penstock.client.duration import milliseconds
from penstock.client.session import LOG as LIBRDKAFKA_LOG
from penstock.testing.client_calls import ClientCalls

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

    from penstock.client.app.app import App
    from penstock.testing.broker import Broker
    from penstock.testing.record import Record

T = TypeVar("T")
TIMEOUT_S = 60.0
_STEP_S = 0.005


class ManualClock(Clock):
    """Begins now, and stands still until it is moved."""

    def __init__(self) -> None:
        self._now_ms = super().now_ms()
        self._watchers: list[Callable[[], None]] = []

    def now_ms(self) -> int:
        return self._now_ms

    def elapsed_ms(self) -> int:
        return self._now_ms

    def timer_s(self, wait_ms: int) -> float | None:
        return None

    def watch(self, moved: Callable[[], None]) -> None:
        self._watchers.append(moved)

    def move_to(self, now_ms: int) -> None:
        self._now_ms = max(self._now_ms, now_ms)
        for each in self._watchers:
            each()


class AppTest:
    """`with app.test() as test:`; without a broker it starts one of its own."""

    def __init__(self, app: App, broker: ClientCalls | None = None) -> None:
        self.app = app
        self.clock = ManualClock()
        self._given = broker
        self._own: Broker | None = None
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._running: RunningApp | None = None
        self._done: Any = None
        self._admin: AdminClient | None = None
        self._before = (app.bootstrap_servers, app.clock)

    @property
    def broker(self) -> ClientCalls:
        broker = self._given or self._own
        assert broker is not None, "the test has not begun"
        return broker

    def __enter__(self) -> AppTest:
        if self._given is None:
            self._start_broker()
        self.app.bootstrap_servers = self.broker.bootstrap_servers
        self.app.clock = self.clock
        self._make_sources()
        self._thread.start()
        self._done = asyncio.run_coroutine_threadsafe(self._run(), self._loop)
        self._wait(lambda: self._running is not None and self._running.is_ready.is_set(), "start")
        return self

    def __exit__(self, *_: object) -> None:
        self.app.bootstrap_servers, self.app.clock = self._before
        try:
            if self._running is not None:
                self._loop.call_soon_threadsafe(self._running.end)
                self._done.result(TIMEOUT_S)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._end_broker()

    # --- what a test does --------------------------------------------------------------------

    def send(
        self,
        topic: str,
        value: Any,
        key: str | bytes | None = None,
        headers: Mapping[str, str | bytes] | None = None,
    ) -> Record:
        """One record, its value as `output` would encode it; returns it as it is stored."""
        given = [(name, _bytes(each)) for name, each in (headers or {}).items()]
        (record,) = self.broker.produce(topic, [encode(value)], key=key, headers=given)
        return record

    def settle(self) -> None:
        """Wait until all that was sent is handled, or waits for its time."""
        self._wait(self._is_settled, "settle")

    def advance(self, duration: str) -> None:
        """Let so much time pass, stopping wherever something is due, and settle."""
        self.settle()
        target_ms = self.clock.now_ms() + milliseconds(duration)
        while (due_ms := self._next_due_ms()) is not None and due_ms <= target_ms:
            self.clock.move_to(due_ms)
            self.settle()
        self.clock.move_to(target_ms)
        self.settle()

    def finish(self) -> None:
        """Let time pass until nothing waits for it any more."""
        self.settle()
        while (due_ms := self._next_due_ms()) is not None:
            self.clock.move_to(due_ms)
            self.settle()

    def read(self, topic: str) -> list[Record]:
        """All records of a topic, such as the output or the dead letters."""
        return self.broker.read(topic)

    # --- how it is done ----------------------------------------------------------------------

    async def _run(self) -> None:
        self._running = RunningApp([self.app], static=False)
        await self._running.run()

    def _start_broker(self) -> None:
        from penstock.testing.broker import Broker

        self._home = tempfile.TemporaryDirectory(prefix="penstock-app-test-")
        settings = {"group.initial.rebalance.delay.ms": 0, "num.partitions": 1}
        self._own = Broker(Path(self._home.name) / "data", settings)
        self._own.start()

    def _end_broker(self) -> None:
        if self._own is not None:
            self._own.kill()
        if self._home is not None:
            self._home.cleanup()

    def _make_sources(self) -> None:
        from confluent_kafka.admin import AdminClient

        self._admin = AdminClient(
            {"bootstrap.servers": self.broker.bootstrap_servers}, logger=LIBRDKAFKA_LOG
        )
        there = set(self._admin.list_topics(timeout=TIMEOUT_S).topics)
        for declared in self.app.consumers:
            wanted = [*declared.topics, *([declared.output] if declared.output else [])]
            for topic in wanted:
                if topic not in there:
                    self.broker.create_topic(topic)
                    there.add(topic)

    def _ends(self) -> dict[tuple[str, int], int]:
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import OffsetSpec

        assert self._admin is not None
        topics = {
            topic for each in self.app.consumers for topic in (*each.topics, *each.delayed_topics)
        }
        found = self._admin.list_topics(timeout=TIMEOUT_S).topics
        asked = {
            TopicPartition(topic, partition): OffsetSpec.latest()  # type: ignore[no-untyped-call]
            for topic in topics
            if topic in found
            for partition in found[topic].partitions
        }
        answers = self._admin.list_offsets(asked, request_timeout=TIMEOUT_S)
        return {
            (place.topic, place.partition): answer.result(TIMEOUT_S).offset
            for place, answer in answers.items()
        }

    def _is_settled(self) -> bool:
        """Twice, with nothing new in between: a handler's own records count as well."""
        before = self._ends()
        return self._ask(self._settled(before)) and self._ends() == before

    async def _settled(self, ends: dict[tuple[str, int], int]) -> bool:
        assert self._running is not None
        return all(each.is_settled(ends) for each in self._running.runners)

    async def _due(self) -> int | None:
        assert self._running is not None
        times = [each.next_due_ms for each in self._running.runners]
        return min((each for each in times if each is not None), default=None)

    def _next_due_ms(self) -> int | None:
        return self._ask(self._due())

    def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(question, self._loop).result(TIMEOUT_S)

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            if self._done is not None and self._done.done():
                self._done.result()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.app.name} did not {what} in {TIMEOUT_S:.0f} s")
            time.sleep(_STEP_S)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
