"""Applications at work in this process: their consumers, one output each, metrics and health."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.client.app.declaration import Declaration
from penstock.client.app.handling import Handling
from penstock.client.app.instance import Instance
from penstock.client.app.log import LOG
from penstock.client.app.metric import AppMetrics, View
from penstock.client.app.output import Output
from penstock.client.app.runner import Runner
from penstock.client.app.server import AppServer
from penstock.client.app.topics import TIMEOUT_S, EndedError, make_topics
from penstock.client.app.transaction import Transactions
from penstock.client.error import ClientError

if TYPE_CHECKING:
    from penstock.client.app.app import App


class RunError(ClientError):
    """An application ended by itself; the message says why."""


class RunningApp:
    def __init__(self, apps: Sequence[App], *, static: bool = True) -> None:
        """`static` False: none of them is a static member."""
        self.runners: list[Runner] = []
        self.address: tuple[str, int] | None = None
        self.is_ready = asyncio.Event()
        self._apps = apps
        self._static = static
        self._outputs: list[Output] = []
        self._instances: list[Instance] = []
        self._names: dict[Runner, str] = {}
        self._ending = asyncio.Event()
        self._failure: str | None = None
        self._server: AppServer | None = None

    def end(self) -> None:
        """Come to an end in good order."""
        self._ending.set()

    def fail(self, reason: str) -> None:
        if self._failure is None:
            LOG.error("%s", reason)
            self._failure = reason
        self.end()

    async def run(self, metrics: tuple[str, int] | None = None) -> None:
        try:
            if metrics is not None:
                self._server = AppServer(AppMetrics(self.views), self.health)
                self.address = await self._server.open(*metrics)
            for app in self._apps:
                await self._start(app)
            self.is_ready.set()
            await self._ending.wait()
        except EndedError:
            pass
        finally:
            await self._stop()
        if self._failure is not None:
            raise RunError(self._failure)

    async def _start(self, app: App) -> None:
        if not app.consumers:
            raise RunError(f"{app.name} has no consumers")
        settings = app.client_settings()
        for declared in app.consumers:
            is_ending = self._ending.is_set
            await asyncio.to_thread(make_topics, settings, declared, TIMEOUT_S, is_ending)
        output = Output(settings, asyncio.get_running_loop())
        self._outputs.append(output)
        instance: Instance | None = None
        if self._static and any(each.static for each in app.consumers):
            instance = Instance(app.name)
            self._instances.append(instance)
        for declared in app.consumers:
            name = instance.name if instance is not None and declared.static else None
            transactions: Transactions | None = None
            if declared.delivery == "exactly-once":
                own = name or uuid.uuid4().hex
                transactions = Transactions(settings, f"{declared.group}.{own}")
            runner = Runner(
                declared,
                consumer_settings(settings, declared, name),
                Handling(declared, output, app.clock, app.claim_check),
                app.clock,
                self.fail,
                transactions,
            )
            self.runners.append(runner)
            self._names[runner] = app.name
            runner.start()
            LOG.info("%s: reads %s", declared.group, ", ".join(declared.topics))

    async def _stop(self) -> None:
        await asyncio.gather(*(each.stop() for each in self.runners))
        for output in self._outputs:
            await asyncio.to_thread(output.close)
        for app in self._apps:
            await app.close()
        for instance in self._instances:
            instance.close()
        if self._server is not None:
            await self._server.close()

    def views(self) -> list[View]:
        return [each.view(self._names[each]) for each in self.runners]

    def health(self) -> tuple[bool, dict[str, Any]]:
        dead = [each.declared.group for each in self.runners if not each.is_alive]
        stuck = [one for each in self.runners for one in each.stuck()]
        well = not dead and not stuck and self._failure is None
        said: dict[str, Any] = {"status": "ok" if well else "ill", "ready": self.is_ready.is_set()}
        for name, value in (("failure", self._failure), ("not reading", dead), ("stuck", stuck)):
            if value:
                said[name] = value
        return well, said


def consumer_settings(
    settings: dict[str, Any], declared: Declaration, instance: str | None
) -> dict[str, Any]:
    own: dict[str, Any] = {
        "group.id": declared.group,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": declared.start,
        "partition.assignment.strategy": "cooperative-sticky",
        # What an aborted transaction left is nobody's business.
        "isolation.level": "read_committed",
        "fetch.wait.max.ms": 100,
        # A full queue is otherwise looked at once a second: what handles more waits for the rest.
        "fetch.queue.backoff.ms": 20,
        # Where a partition ends with marks of transactions, nothing else tells that they are read.
        "enable.partition.eof": True,
    }
    if instance is not None:
        own["group.instance.id"] = instance
    return settings | own | dict(declared.settings)
