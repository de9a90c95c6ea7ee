"""kafka-python behind the suite's client interface."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

with warnings.catch_warnings():
    # It reads its message definitions at import, through a function Python 3.11 deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.codec import has_lz4, has_snappy, has_zstd
    from kafka.errors import KafkaError

from tests.conformance.clients.record import PATIENCE_SECONDS, BrokerError, Receipt, Record


def as_broker_error(error: KafkaError) -> BrokerError:
    return BrokerError(getattr(error, "errno", None), repr(error))


def supported_codecs() -> tuple[str, ...]:
    """kafka-python compresses with whatever optional packages are installed beside it."""
    optional = {"snappy": has_snappy(), "lz4": has_lz4(), "zstd": has_zstd()}
    return ("none", "gzip", *(codec for codec, present in optional.items() if present))


class KafkaPythonClient:
    name = "kafka-python"
    codecs = supported_codecs()

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap = bootstrap_servers

    def produce(
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
        settings: dict[str, Any] = {} if idempotent else {"retries": 0}
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks=acks if acks == "all" else int(acks),
            compression_type=None if codec == "none" else codec,
            enable_idempotence=idempotent,
            max_request_size=largest_bytes,
            linger_ms=linger_ms,
            **settings,
        )
        try:
            sent = [self._send(producer, topic, record) for record in records]
            producer.flush(PATIENCE_SECONDS)
            return [self._receipt(future) for future in sent]
        finally:
            producer.close(timeout=PATIENCE_SECONDS)

    @staticmethod
    def _send(producer: KafkaProducer, topic: str, record: Record) -> Any:
        try:
            return producer.send(
                topic,
                value=record.value,
                key=record.key,
                headers=list(record.headers),
                partition=record.partition if record.partition >= 0 else None,
                timestamp_ms=record.timestamp,
            )
        except KafkaError as error:
            raise as_broker_error(error) from error

    @staticmethod
    def _receipt(future: Any) -> Receipt:
        try:
            landed = future.get(timeout=PATIENCE_SECONDS)
        except KafkaError as error:
            raise as_broker_error(error) from error
        return Receipt(landed.partition, landed.offset, landed.timestamp)

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
    ) -> Iterator[KafkaPythonReader]:
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset=reset,
            fetch_max_wait_ms=wait_ms,
            max_partition_fetch_bytes=fetch_bytes,
            isolation_level="read_committed" if committed_only else "read_uncommitted",
        )
        assigned = [TopicPartition(topic, number) for number in partitions]
        try:
            consumer.assign(assigned)
            _move(consumer, assigned, start)
            yield KafkaPythonReader(consumer, assigned[0])
        finally:
            consumer.close()

    def bounds(self, topic: str, partition: int = 0) -> tuple[int, int]:
        where = TopicPartition(topic, partition)
        with self.open_reader(topic) as reader:
            low = reader.consumer.beginning_offsets([where])[where]
            return low, reader.consumer.end_offsets([where])[where]

    def offset_at(self, topic: str, timestamp: int, partition: int = 0) -> int | None:
        where = TopicPartition(topic, partition)
        with self.open_reader(topic) as reader:
            found = reader.consumer.offsets_for_times({where: timestamp})[where]
            return None if found is None else found.offset


def _move(consumer: KafkaConsumer, assigned: list[TopicPartition], start: int | str) -> None:
    if start == "beginning":
        consumer.seek_to_beginning(*assigned)
    elif start == "end":
        consumer.seek_to_end(*assigned)
    else:
        for where in assigned:
            consumer.seek(where, start)


class KafkaPythonReader:
    def __init__(self, consumer: KafkaConsumer, first: TopicPartition) -> None:
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
            answer = self.consumer.poll(timeout_ms=100, max_records=most)
        except KafkaError as error:
            raise as_broker_error(error) from error
        return [_record(item) for items in answer.values() for item in items]

    def seek(self, offset: int) -> None:
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
