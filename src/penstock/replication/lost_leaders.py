"""Brokers that metadata still names as leaders, and whose process seems to have ended.

For a moment after a leader's death its followers know more than the metadata log: the connection
broke, and the port refuses. A client that asks in that moment who leads would be sent to the dead
one, and asks again only after a pause that it doubles each time (librdkafka: 100 ms, 200 ms, …). So
its answer waits for the election, and no longer than that may take. The same holds for whoever asks
for a coordinator, which is a leader too.

And it stays in the list of brokers for a while after that: librdkafka gives up a broker that is
not listed any more, together with what it was about to move from there to the next leader, and
finds that only at its next look, once a second. If the broker was a group's coordinator, the
offsets of a transaction may wait for it for ever, although it has long been back (librdkafka 5511).
Most are back within ten seconds; a Kafka cluster lists one that was killed for nine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

from penstock.metadata.broker import BrokerImage

HOLD_S = 0.5
LOOK_S = 0.01
LINGER_S = 10.0
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
        self._in_service: dict[int, int] = {}
        """Epochs of brokers that were seen unfenced."""
        self._listed_until: dict[int, float] = {}
        self._closed = False

    def __bool__(self) -> bool:
        return bool(self._watched)

    def note_changed(self, broker_ids: Iterable[int]) -> None:
        """Metadata says something new of them."""
        for broker_id in broker_ids:
            broker = self._brokers.get(broker_id)
            self._listed_until.pop(broker_id, None)
            if broker is not None and not broker.fenced:
                self._in_service[broker_id] = broker.epoch
            elif self._in_service.pop(broker_id, None) is not None and broker is not None:
                now_s = asyncio.get_running_loop().time()
                self._listed_until[broker_id] = now_s + LINGER_S

    def still_listed(self) -> list[int]:
        """Brokers that were in service a moment ago."""
        if not self._listed_until:
            return []
        now_s = asyncio.get_running_loop().time()
        return [one for one, until_s in self._listed_until.items() if until_s > now_s]

    def suspect(self, broker_id: int) -> None:
        """Its connection broke."""
        broker = self._brokers.get(broker_id)
        if self._closed or broker is None or broker.fenced or broker_id in self._watched:
            return
        if self._given_up.get(broker_id) == broker.epoch:
            return
        self._in_service[broker_id] = broker.epoch
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
        self._closed = True
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
