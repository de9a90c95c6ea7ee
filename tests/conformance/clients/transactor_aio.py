"""aiokafka as a transactional producer: its event loop runs while it is asked for something."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError, ProducerFenced

from tests.conformance.clients.record import Record
from tests.conformance.clients.transactor import Place, Transacting, told


class AioTransactor:
    def __init__(self, bootstrap_servers: str, how: Transacting) -> None:
        self._runner = asyncio.Runner()
        self._producer: Any = None
        try:
            self._run(self._start(bootstrap_servers, how))
        except Exception:
            self.close()
            raise

    async def _start(self, bootstrap_servers: str, how: Transacting) -> None:
        self._producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap_servers,
            transactional_id=how.transactional_id,
            transaction_timeout_ms=how.timeout_ms,
            compression_type=None if how.codec == "none" else how.codec,
            linger_ms=1,
        )
        await self._producer.start()

    def begin(self) -> None:
        self._run(self._producer.begin_transaction())

    def send(self, topic: str, records: Sequence[Record]) -> None:
        self._run(self._send(topic, records))

    async def _send(self, topic: str, records: Sequence[Record]) -> None:
        sent = [
            await self._producer.send(
                topic, value=record.value, key=record.key, partition=record.partition
            )
            for record in records
        ]
        await asyncio.gather(*sent)

    def send_offsets(self, group: str, offsets: Mapping[Place, int]) -> None:
        named = {TopicPartition(*place): offset for place, offset in offsets.items()}
        self._run(self._producer.send_offsets_to_transaction(named, group))

    def commit(self) -> None:
        self._run(self._producer.commit_transaction())

    def abort(self) -> None:
        self._run(self._producer.abort_transaction())

    def close(self) -> None:
        if self._producer is not None:
            self._runner.run(self._producer.stop())
        self._runner.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            self._runner.run(work)
        except KafkaError as error:
            fenced = isinstance(error, ProducerFenced)
            raise told(getattr(error, "errno", None), repr(error), fenced=fenced) from error
