"""kafka-python as a transactional producer."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaProducer, TopicPartition
    from kafka.errors import KafkaError
    from kafka.structs import OffsetAndMetadata

from tests.conformance.clients.record import PATIENCE_SECONDS, Record
from tests.conformance.clients.transactor import Place, Transacting, told


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except KafkaError as error:
        raise told(_code(error), repr(error), fenced="ProducerFenced" in repr(error)) from error


def _code(error: KafkaError) -> int | None:
    """Codes it does not expect it wraps, with their number in the text."""
    named = re.search(r"\[Error (\d+)\]", str(error))
    return int(named[1]) if named else getattr(error, "errno", None)


class KafkaPythonTransactor:
    def __init__(self, bootstrap_servers: str, how: Transacting) -> None:
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap_servers,
            transactional_id=how.transactional_id,
            transaction_timeout_ms=how.timeout_ms,
            compression_type=None if how.codec == "none" else how.codec,
            linger_ms=1,
        )
        try:
            with _translated():
                self._producer.init_transactions()
        except Exception:
            self.close()
            raise

    def begin(self) -> None:
        with _translated():
            self._producer.begin_transaction()

    def send(self, topic: str, records: Sequence[Record]) -> None:
        with _translated():
            sent = [
                self._producer.send(
                    topic, value=record.value, key=record.key, partition=record.partition
                )
                for record in records
            ]
            self._producer.flush(PATIENCE_SECONDS)
            for future in sent:
                future.get(timeout=PATIENCE_SECONDS)

    def send_offsets(self, group: str, offsets: Mapping[Place, int]) -> None:
        with _translated():
            self._producer.send_offsets_to_transaction(
                {
                    TopicPartition(*place): OffsetAndMetadata(offset, "", -1)
                    for place, offset in offsets.items()
                },
                group,
            )

    def commit(self) -> None:
        with _translated():
            self._producer.commit_transaction()

    def abort(self) -> None:
        with _translated():
            self._producer.abort_transaction()

    def close(self) -> None:
        # With time to spare it would abort an open transaction.
        sender = self._producer._sender
        self._producer.close(timeout=0)
        sender.join(PATIENCE_SECONDS)
