"""confluent-kafka as a transactional producer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.conformance.clients.record import PATIENCE_SECONDS, Record
from tests.conformance.clients.transactor import Place, Transacting, told


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except KafkaException as failure:
        error: KafkaError = failure.args[0]
        fenced = error.code() == KafkaError._FENCED
        raise told(error.code(), error.str(), fenced=fenced) from failure


class ConfluentTransactor:
    def __init__(self, bootstrap_servers: str, how: Transacting) -> None:
        self._bootstrap = {"bootstrap.servers": bootstrap_servers, "log_level": 0}
        self._producer = Producer(
            self._bootstrap
            | {
                "transactional.id": how.transactional_id,
                "transaction.timeout.ms": how.timeout_ms,
                "compression.type": how.codec,
                "linger.ms": 1,
            }
        )
        with _translated():
            self._producer.init_transactions(PATIENCE_SECONDS)

    def begin(self) -> None:
        with _translated():
            self._producer.begin_transaction()

    def send(self, topic: str, records: Sequence[Record]) -> None:
        failures: list[KafkaError] = []
        with _translated():
            for record in records:
                self._producer.produce(
                    topic,
                    value=record.value,
                    key=record.key,
                    partition=record.partition,
                    on_delivery=lambda error, _: failures.append(error) if error else None,
                )
            self._producer.flush(PATIENCE_SECONDS)
            if failures:
                raise KafkaException(failures[0])

    def send_offsets(self, group: str, offsets: Mapping[Place, int]) -> None:
        # Only for the group's name: this consumer never joins.
        consumer = Consumer(self._bootstrap | {"group.id": group})
        try:
            self.send_offsets_as(consumer.consumer_group_metadata(), offsets)
        finally:
            consumer.close()

    def send_offsets_as(self, membership: Any, offsets: Mapping[Place, int]) -> None:
        with _translated():
            self._producer.send_offsets_to_transaction(
                [TopicPartition(*place, offset) for place, offset in offsets.items()],
                membership,
                PATIENCE_SECONDS,
            )

    def commit(self) -> None:
        with _translated():
            self._producer.commit_transaction(PATIENCE_SECONDS)

    def abort(self) -> None:
        with _translated():
            self._producer.abort_transaction(PATIENCE_SECONDS)

    def close(self) -> None:
        self._producer.purge()
        del self._producer
