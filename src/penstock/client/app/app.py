"""What a user declares: an application, its consumers, and running them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.client.app.clock import Clock
from penstock.client.app.codec import decoder
from penstock.client.app.declaration import DeadLetters, Declaration, Delivery, Order, Start
from penstock.client.app.handler import look_at
from penstock.client.app.retry import Retry
from penstock.client.dead_letter import dead_letter_topic
from penstock.client.duration import milliseconds
from penstock.client.error import DeclarationError
from penstock.client.record import Headers
from penstock.client.session import bootstrap_of

if TYPE_CHECKING:
    from penstock.client.app.request.requests import Requests
    from penstock.client.claim.check import ClaimCheck
    from penstock.testing.app import AppTest
    from penstock.testing.client_calls import ClientCalls

F = TypeVar("F", bound=Callable[..., Any])
Topics = str | Iterable[str] | Mapping[str, int]


class App:
    """`App("billing", "127.0.0.1:9092")`; `settings` are librdkafka's, for all its clients."""

    def __init__(
        self,
        name: str,
        bootstrap_servers: str | None = None,
        *,
        claim_check: ClaimCheck | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.claim_check = claim_check
        self.name = name
        self.bootstrap_servers = bootstrap_servers
        self.settings = dict(settings or {})
        self.consumers: list[Declaration] = []
        self.clock = Clock()
        self._requests: Requests | None = None

    def consumer(
        self,
        topics: Topics,
        *,
        group: str | None = None,
        retry: Retry | None = None,
        dead_letters: str | DeadLetters | None = None,
        concurrency: int = 16,
        order: Order = "key",
        delivery: Delivery = "at-least-once",
        output: str | None = None,
        timeout: str | None = "5m",
        ttl: str | None = None,
        start: Start = "earliest",
        commit_every: int = 1000,
        commit_interval: str = "1s",
        drain: str = "30s",
        buffer: int = 4000,
        static: bool = True,
        settings: Mapping[str, Any] | None = None,
    ) -> Callable[[F], F]:
        """Handle each record of the topics with the function below; see docs/applications.md."""
        group_id = group or self.name
        named = dead_letters or dead_letter_topic(group_id)

        def declare(function: F) -> F:
            declared = Declaration(
                handler=look_at(function),
                weights=_weights(topics),
                group=group_id,
                retry=retry or Retry(),
                dead_letters=DeadLetters(named) if isinstance(named, str) else named,
                concurrency=concurrency,
                order=order,
                delivery=delivery,
                output=output,
                timeout_ms=None if timeout is None else milliseconds(timeout),
                ttl_ms=None if ttl is None else milliseconds(ttl),
                start=start,
                commit_every=commit_every,
                commit_interval_s=milliseconds(commit_interval) / 1000,
                drain_s=milliseconds(drain) / 1000,
                buffer=buffer,
                static=static,
                settings=dict(settings or {}),
            )
            declared.check()
            if any(each.group == group_id for each in self.consumers):
                raise DeclarationError(f"{self.name} has two consumers of the group {group_id}")
            self.consumers.append(declared)
            return function

        return declare

    async def request(
        self,
        topic: str,
        value: Any,
        *,
        key: str | bytes | None = None,
        headers: Headers | None = None,
        timeout: str = "10s",
        reply: Any = Any,
    ) -> Any:
        """Send `value` to a topic, and wait for what its consumer returns, decoded to `reply`.

        Raises RequestTimeoutError, or RequestError where the consumer gave up. Outside of
        handlers, end with `await app.close()`.
        """
        from penstock.client.app.request.requests import Requests

        if self._requests is None:
            self._requests = Requests(self.name, self.client_settings(), self.claim_check)
        asked = (topic, value, key, headers, milliseconds(timeout), decoder(reply))
        return await self._requests.request(*asked)

    async def close(self) -> None:
        """What requests have opened; a running application does it by itself."""
        requests, self._requests = self._requests, None
        if requests is not None:
            await requests.close()

    def client_settings(self) -> dict[str, Any]:
        own = {
            "bootstrap.servers": bootstrap_of(self.bootstrap_servers),
            "client.id": self.name,
        }
        return own | self.settings

    def run(self, metrics: tuple[str, int] | None = None) -> None:
        """Run until SIGTERM or Ctrl-C; then finish what is under way, commit, and leave."""
        run_apps([self], metrics)

    def test(self, broker: ClientCalls | None = None) -> AbstractContextManager[AppTest]:
        """The application beside a broker of its own, with time that the test moves."""
        from penstock.testing.app import AppTest

        return AppTest(self, broker)


def run_apps(apps: Iterable[App], metrics: tuple[str, int] | None = None) -> None:
    """Several in one process, on one event loop."""
    from penstock.client.app.running import RunningApp

    async def serve() -> None:
        running = RunningApp(list(apps))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, running.end)
        await running.run(metrics)

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _weights(topics: Topics) -> dict[str, int]:
    if isinstance(topics, str):
        return {topics: 1}
    return dict(topics) if isinstance(topics, Mapping) else dict.fromkeys(topics, 1)
