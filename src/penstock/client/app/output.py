"""Sending records and learning when they are acknowledged, for the event loop.

One idempotent producer; its thread hands the reports to the loop, many at a time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from confluent_kafka import KafkaException

from penstock.client.dead_letter import AnyHeaders
from penstock.client.error import DeliveryError
from penstock.client.lasting_producer import LastingProducer
from penstock.client.record import Delivery

_FLUSH_S = 10.0
_FULL_WAIT_S = 0.01


class Output:
    def __init__(self, settings: dict[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        own = {
            "enable.idempotence": True,
            "linger.ms": 5,
            "compression.type": "lz4",
            # The broker decides what is too large, by its own or its topic's max.message.bytes.
            "message.max.bytes": 100_000_000,
        }
        self._producer = LastingProducer(own | settings, "penstock-output")
        self._loop = loop
        self._reports: deque[tuple[asyncio.Future[Delivery], Any, Any]] = deque()
        self._is_told = False

    async def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: AnyHeaders,
        partition: int = -1,
    ) -> Delivery:
        """Returns when the record is acknowledged."""
        answer: asyncio.Future[Delivery] = self._loop.create_future()

        def report(error: Any, message: Any) -> None:
            self._reports.append((answer, error, message))
            if not self._is_told:
                self._is_told = True
                self._loop.call_soon_threadsafe(self._settle)

        while True:
            try:
                self._producer.produce(
                    topic, report, key=key, value=value, headers=headers, partition=partition
                )
                break
            except BufferError:
                await asyncio.sleep(_FULL_WAIT_S)
            except KafkaException as error:
                raise DeliveryError(f"{topic}: {error.args[0].str()}") from error
        return await answer

    def _settle(self) -> None:
        self._is_told = False
        while self._reports:
            answer, error, message = self._reports.popleft()
            if answer.done():
                continue
            if error is not None:
                answer.set_exception(DeliveryError(f"{message.topic()}: {error.str()}"))
            else:
                stamp = message.timestamp()[1]
                place = (message.topic(), message.partition(), message.offset())
                answer.set_result(Delivery(*place, stamp))

    def close(self) -> None:
        """Blocks until what was sent is settled."""
        self._producer.close(_FLUSH_S)
