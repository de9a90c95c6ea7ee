"""Brokers that metadata still names as leaders, and whose process seems to have ended.

For a moment after a leader's death its followers know more than the metadata log: the connection
broke, and the port refuses. A client that asks in that moment who leads would be sent to the dead
one, and asks again only after a pause that it doubles each time (librdkafka: 100 ms, 200 ms, …). So
its answer waits for the election, and no longer than that may take. The same holds for whoever asks
for a coordinator, which is a leader too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

from penstock.metadata.broker import BrokerImage

HOLD_S = 0.5
LOOK_S = 0.01
LOOKS_UNREFUSED = 5
"""A process that is ending closes its files one after another, and its port perhaps last."""


class LostLeaders:
    """`is_gone` tells whether a broker's port refuses."""

    def __init__(
        self, brokers: Mapping[int, BrokerImage], is_gone: Callable[[int], Awaitable[bool]]
    ) -> None:
        self._brokers = brokers
        self._is_gone = is_gone
        self._watched: dict[int, asyncio.Task[None]] = {}
        self._given_up: dict[int, int] = {}
        """Broker epochs in which a wait was in vain: one is enough."""

    def __bool__(self) -> bool:
        return bool(self._watched)

    def suspect(self, broker_id: int) -> None:
        """It did not answer, or its connection broke."""
        broker = self._brokers.get(broker_id)
        if broker is None or broker.fenced or broker_id in self._watched:
            return
        if self._given_up.get(broker_id) == broker.epoch:
            return
        watch = self._watch(broker_id, broker.epoch)
        self._watched[broker_id] = asyncio.create_task(watch, name=f"lost-leader-{broker_id}")

    def among(self, leader_ids: Iterable[int]) -> set[int]:
        return self._watched.keys() & leader_ids

    async def wait_replaced(self, broker_ids: Iterable[int]) -> None:
        """Until others lead, the broker turns out to be there, or it takes too long."""
        tasks = [self._watched[one] for one in broker_ids if one in self._watched]
        if tasks:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        tasks = list(self._watched.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _watch(self, broker_id: int, epoch: int) -> None:
        try:
            async with asyncio.timeout(HOLD_S):
                if await self._refuses(broker_id):
                    # It leads nothing any more as soon as it is fenced: both are one change.
                    while self._leads(broker_id, epoch):
                        await asyncio.sleep(LOOK_S)
        except TimeoutError:
            self._given_up[broker_id] = epoch
        finally:
            del self._watched[broker_id]

    async def _refuses(self, broker_id: int) -> bool:
        for _ in range(LOOKS_UNREFUSED):
            if await self._is_gone(broker_id):
                return True
            await asyncio.sleep(LOOK_S)
        return False

    def _leads(self, broker_id: int, epoch: int) -> bool:
        broker = self._brokers.get(broker_id)
        return broker is not None and broker.epoch == epoch and not broker.fenced
