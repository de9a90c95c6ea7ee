"""The transactional producer of one shard: a batch is in its topics whole, once, or not at all.

The transaction of a batch also commits, in a group of the shard's own, an offset whose metadata is
the batch's id. So the broker can be asked whether a batch was sent whose outcome was not heard of.
Opening a sender takes the transactional id over: a relay thought dead commits nothing afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from penstock.client.error import DeliveryError
from penstock.client.fatal import fatal_errors_told
from penstock.client.outbox.event import Event
from penstock.client.outbox.patience import Patience
from penstock.client.outbox.shard import Batch
from penstock.client.session import LOG
from penstock.client.steady import STEADY, STEADY_TRANSACTIONS

_FENCE_OFFSET = 1 << 53
"""Beyond the end of any partition: its group reads nothing, and is never behind."""
# What is wrong with the record itself: sent again it would be refused again.
_DEFECTS = (
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_RECORD,
    KafkaError.INVALID_MSG,
    KafkaError.INVALID_TIMESTAMP,
    KafkaError.POLICY_VIOLATION,
    KafkaError.TOPIC_EXCEPTION,
)
_PRODUCER_ONLY = ("partitioner", "compression.", "linger.", "batch.", "queue.buffering.")


class DefectiveEventError(DeliveryError):
    """The broker refuses this event for good."""

    def __init__(self, event: Event, reason: str) -> None:
        super().__init__(f"{event.topic}: event {event.event_id} is refused: {reason}")
        self.event = event
        self.reason = reason


class _DefectsInBatchError(DeliveryError):
    """Some event of several that were sent together is refused."""


class ShardSender:
    def __init__(
        self, kafka: Mapping[str, Any], transactional_id: str, patience: Patience | None = None
    ) -> None:
        self._kafka, self._id = dict(kafka), transactional_id
        self._patience = patience or Patience()
        self._failed: list[tuple[Event, Any]] = []
        self._producer = self._open()
        self._group_reader = Consumer(_reader_settings(kafka, transactional_id), logger=LOG)
        self._group = self._group_reader.consumer_group_metadata()

    def _open(self) -> Producer:
        """Takes the transactional id over, and aborts what is open under it."""
        producer = Producer(_producer_settings(self._kafka, self._id), logger=LOG)
        self._patience.wait(producer.init_transactions, finishing=False)
        return producer

    def _open_anew(self) -> None:
        """After a refusal: librdkafka loses count of its sequence numbers in an abort."""
        self._drop()
        self._producer = self._open()

    def was_sent(self, batch: Batch) -> bool:
        """Asked after the take-over: nothing of the shard is open then."""
        place = TopicPartition(batch.events[0].topic, 0)
        asked = self._patience.wait(
            lambda step_s: self._group_reader.committed([place], timeout=step_s), finishing=False
        )
        found = asked[0]
        if found.error is not None:
            raise KafkaException(found.error)
        return bool(found.offset >= 0 and found.metadata == batch.batch_id)

    def send(self, batch: Batch) -> None:
        """Raises DefectiveEventError for the first event that can never be sent; nothing of the
        batch is in a topic then."""
        try:
            self._send(batch, one_by_one=False)
        except _DefectsInBatchError:
            # Records travel together, and are refused together: which of them is it?
            self._send(batch, one_by_one=True)

    def _send(self, batch: Batch, *, one_by_one: bool) -> None:
        self._failed.clear()
        self._producer.begin_transaction()
        try:
            for event in batch.events:
                self._produce(event)
                if one_by_one:
                    self._settle(batch, event)
            self._settle(batch, None)
            fence = TopicPartition(batch.events[0].topic, 0, _FENCE_OFFSET, batch.batch_id)
            self._patience.wait(
                lambda step_s: self._producer.send_offsets_to_transaction(
                    [fence], self._group, step_s
                )
            )
        except (_DefectsInBatchError, DefectiveEventError):
            self._open_anew()
            raise
        self._patience.wait(self._producer.commit_transaction)

    def _produce(self, event: Event) -> None:
        while True:
            try:
                self._producer.produce(
                    event.topic,
                    key=event.key,
                    value=event.value,
                    headers=event.wire_headers(),
                    timestamp=event.created_ms,
                    on_delivery=lambda error, _: self._note(event, error),
                )
                return
            except BufferError:
                with fatal_errors_told():
                    self._producer.poll(0.1)
            except KafkaException as error:
                if error.args[0].code() in _DEFECTS:
                    self._failed.append((event, error.args[0]))
                    return
                raise

    def _note(self, event: Event, error: Any) -> None:
        if error is not None:
            self._failed.append((event, error))

    def _settle(self, batch: Batch, only: Event | None) -> None:
        """Wait for the reports of what was produced, and raise what they say."""
        with fatal_errors_told():
            left = self._patience.wait_flushed(self._producer.flush)
        if not self._failed:
            if left:
                raise DeliveryError(f"{batch.events[0].topic}: not acknowledged in time")
            return
        # Behind the first failure librdkafka gives the rest of the transaction up.
        event, error = self._failed[0]
        if error.code() not in _DEFECTS:
            raise DeliveryError(f"{event.topic}: {error.str()}")
        if only is None and len(batch.events) > 1:
            raise _DefectsInBatchError(error.str())
        raise DefectiveEventError(event, error.str())

    def close(self) -> None:
        """What is open is aborted by whoever opens the next sender."""
        self._drop()
        self._group_reader.close()

    def _drop(self) -> None:
        # One that was taken over raises here, and has nothing more to say.
        with suppress(KafkaException), fatal_errors_told():
            self._producer.purge()
            self._producer.flush(0)


def _producer_settings(kafka: Mapping[str, Any], transactional_id: str) -> dict[str, Any]:
    return {
        "client.id": "penstock-outbox",
        "compression.type": "lz4",
        # Nothing is waited for behind the last event of a batch: `flush` sends at once.
        "linger.ms": 5,
        "queue.buffering.max.messages": 1_000_000,
        # The broker decides what is too large, by its own or its topic's max.message.bytes.
        "message.max.bytes": 100_000_000,
        **STEADY_TRANSACTIONS,
        **kafka,
        "transactional.id": transactional_id,
        "enable.idempotence": True,
    }


def _reader_settings(kafka: Mapping[str, Any], group: str) -> dict[str, Any]:
    return {
        "client.id": "penstock-outbox",
        **STEADY,
        **_without_producer(kafka),
        "group.id": group,
        "enable.auto.commit": False,
        # Asks for stable offsets: one in an open transaction is waited for.
        "isolation.level": "read_committed",
    }


def _without_producer(kafka: Mapping[str, Any]) -> dict[str, Any]:
    """A consumer warns of what it does not know."""
    return {name: value for name, value in kafka.items() if not name.startswith(_PRODUCER_ONLY)}
