"""aiokafka behind the suite's client interface: each call runs its own short event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from tests.conformance.clients.record import (
    CODECS,
    PATIENCE_SECONDS,
    BrokerError,
    Receipt,
    Record,
)


def as_broker_error(error: KafkaError) -> BrokerError:
    return BrokerError(getattr(error, "errno", None), repr(error))


class AioClient:
    name = "aiokafka"
    codecs = CODECS

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap = bootstrap_servers

    def produce(self, topic: str, records: Sequence[Record], **options: Any) -> list[Receipt]:
        try:
            return asyncio.run(self._produce(topic, records, **options))
        except KafkaError as error:
            raise as_broker_error(error) from error

    async def _produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool = False,
        largest_bytes: int = 1_000_000,
        linger_ms: int = 5,
    ) -> list[Receipt]:
        producer = AIOKafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks=acks if acks == "all" else int(acks),
            compression_type=None if codec == "none" else codec,
            enable_idempotence=idempotent,
            max_request_size=largest_bytes,
            linger_ms=linger_ms,
        )
        async with producer:
            sent = [await self._send(producer, topic, record) for record in records]
            landed = await asyncio.gather(*sent)
        # With acks=0 there is nothing to tell.
        return [Receipt(m.partition, m.offset, m.timestamp) for m in landed if m is not None]

    @staticmethod
    async def _send(producer: AIOKafkaProducer, topic: str, record: Record) -> Any:
        return await producer.send(
            topic,
            value=record.value,
            key=record.key,
            headers=list(record.headers),
            partition=record.partition if record.partition >= 0 else None,
            timestamp_ms=record.timestamp,
        )

    @contextmanager
    def open_reader(
        self,
        topic: str,
        *,
        partitions: Sequence[int] = (0,),
        start: int | str = "beginning",
        reset: str = "none",
        wait_ms: int = 500,
        fetch_bytes: int = 1_048_576,
        committed_only: bool = False,
    ) -> Iterator[AioReader]:
        assigned = [TopicPartition(topic, number) for number in partitions]
        settings = {
            "bootstrap_servers": self._bootstrap,
            "group_id": None,
            "enable_auto_commit": False,
            "auto_offset_reset": reset,
            "fetch_max_wait_ms": wait_ms,
            "max_partition_fetch_bytes": fetch_bytes,
            "isolation_level": "read_committed" if committed_only else "read_uncommitted",
        }
        with asyncio.Runner() as runner:
            consumer = runner.run(_started(settings))
            try:
                runner.run(_move(consumer, assigned, start))
                yield AioReader(runner, consumer, assigned[0])
            finally:
                runner.run(consumer.stop())

    def bounds(self, topic: str, partition: int = 0) -> tuple[int, int]:
        where = TopicPartition(topic, partition)
        with self.open_reader(topic) as reader:
            low = reader.run(reader.consumer.beginning_offsets([where]))[where]
            return low, reader.run(reader.consumer.end_offsets([where]))[where]

    def offset_at(self, topic: str, timestamp: int, partition: int = 0) -> int | None:
        where = TopicPartition(topic, partition)
        with self.open_reader(topic) as reader:
            found = reader.run(reader.consumer.offsets_for_times({where: timestamp}))[where]
            return None if found is None else found.offset


async def _started(settings: dict[str, Any]) -> AIOKafkaConsumer:
    consumer = AIOKafkaConsumer(**settings)
    await consumer.start()
    return consumer


async def _move(
    consumer: AIOKafkaConsumer, assigned: list[TopicPartition], start: int | str
) -> None:
    consumer.assign(assigned)
    if start == "beginning":
        await consumer.seek_to_beginning(*assigned)
    elif start == "end":
        await consumer.seek_to_end(*assigned)
    else:
        for where in assigned:
            consumer.seek(where, start)


class AioReader:
    def __init__(
        self, runner: asyncio.Runner, consumer: AIOKafkaConsumer, first: TopicPartition
    ) -> None:
        self.run = runner.run
        self.consumer = consumer
        self._first = first

    def take(self, count: int, timeout: float = PATIENCE_SECONDS) -> list[Record]:
        deadline = time.monotonic() + timeout
        taken: list[Record] = []
        while len(taken) < count and time.monotonic() < deadline:
            taken += self.poll_once(count - len(taken))
        return taken

    def poll_once(self, most: int) -> list[Record]:
        try:
            answer = self.run(self.consumer.getmany(timeout_ms=100, max_records=most))
        except KafkaError as error:
            raise as_broker_error(error) from error
        return [_record(item) for items in answer.values() for item in items]

    def seek(self, offset: int) -> None:
        self.run(self._seek(offset))

    async def _seek(self, offset: int) -> None:
        # Not awaited, but only a running loop may call it.
        self.consumer.seek(self._first, offset)


def _record(item: Any) -> Record:
    return Record(
        value=item.value,
        key=item.key,
        headers=tuple(item.headers),
        partition=item.partition,
        timestamp=item.timestamp,
        offset=item.offset,
        log_append_time=item.timestamp_type == 1,
    )
