"""Fences brokers whose process is known to have ended, without waiting for their session to end.

A broken connection alone says little. A port that refuses as well says that nobody is there who
could still acknowledge anything: fencing then risks nothing. Silence is left to the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from penstock.metadata.image import ClusterImage
from penstock.model.error import PenstockError
from penstock.telemetry.log import get_logger

LOOKS = 10
LOOK_S = 0.05
"""A process that is ending closes its files one after another, and its port perhaps last."""

log = get_logger("controller")


class BrokerWatch:
    """`is_gone` tells whether a broker's port refuses; `fence` has the active controller fence it,
    and raises if it is not here."""

    def __init__(
        self,
        node_id: int,
        image: ClusterImage,
        is_gone: Callable[[int], Awaitable[bool]],
        fence: Callable[[int, int], Awaitable[None]],
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._is_gone = is_gone
        self._fence = fence
        self._looking: dict[int, asyncio.Task[None]] = {}

    def on_lost(self, broker_id: int, broker_epoch: int) -> None:
        """The connection on which the broker sent its heartbeats has ended."""
        if broker_id != self._node_id:
            self._begin(broker_id, broker_epoch)

    def look_at_all(self) -> None:
        """Of a controller that has just begun: who went with the last one has nobody to miss it.

        This node is among them. It may be known by an earlier life, and its port refuses until it
        is registered in this one.
        """
        for broker in list(self._image.brokers.values()):
            if not broker.fenced:
                self._begin(broker.id, broker.epoch)

    def close(self) -> None:
        for task in list(self._looking.values()):
            task.cancel()

    def _begin(self, broker_id: int, broker_epoch: int) -> None:
        if broker_id in self._looking:
            return
        task = asyncio.create_task(self._look(broker_id, broker_epoch), name=f"look-{broker_id}")
        self._looking[broker_id] = task
        task.add_done_callback(lambda _: self._looking.pop(broker_id, None))

    async def _look(self, broker_id: int, broker_epoch: int) -> None:
        for _ in range(LOOKS):
            broker = self._image.brokers.get(broker_id)
            if broker is None or broker.epoch != broker_epoch or broker.fenced:
                return
            if await self._is_gone(broker_id):
                try:
                    await self._fence(broker_id, broker_epoch)
                except PenstockError as error:
                    log.info("broker not fenced", broker=broker_id, reason=str(error))
                else:
                    log.warning("broker fenced: its process has ended", broker=broker_id)
                return
            await asyncio.sleep(LOOK_S)
