"""Outputs and offsets in one transaction. Blocks: it runs in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from penstock.client.app.part import Part
from penstock.client.dead_letter import AnyHeaders
from penstock.client.error import ClientError
from penstock.client.fatal import fatal_errors_told
from penstock.client.lasting_producer import is_fatal
from penstock.client.session import LOG as LIBRDKAFKA_LOG
from penstock.client.steady import STEADY_TRANSACTIONS

_TIMEOUT_S = 30.0
_TRANSACTION_TIMEOUT_MS = 15_000
_FENCED = (
    KafkaError._FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
)


class FencedError(ClientError):
    """Another process uses the same transactional id."""


class TransactionError(ClientError):
    """Nothing of it was written."""


class Sent(NamedTuple):
    """A record that a handler sends, or that is sent because one failed."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: AnyHeaders


@dataclass(slots=True)
class Transaction:
    outputs: list[Sent]
    offsets: list[TopicPartition]
    group: Any
    taken: list[tuple[Part, list[tuple[int, list[Sent]]]]]

    @classmethod
    def of(cls, parts: Sequence[Part], group: Any) -> Transaction:
        """What is done of these partitions, as far as the commits' metadata have room for it."""
        made = cls([], [], group, [])
        for part in parts:
            commit = part.progress.commit(in_hand=part.in_hand)
            made.offsets.append(
                TopicPartition(part.topic, part.partition, commit.offset, commit.metadata)
            )
            told = [
                one for one in part.outputs if one[0] < commit.offset or one[0] in commit.covered
            ]
            part.outputs = [one for one in part.outputs if one not in told]
            part.progress.is_dirty = bool(part.outputs)
            made.taken.append((part, told))
            made.outputs += [record for _, records in told for record in records]
        return made

    def put_back(self) -> None:
        for part, told in self.taken:
            part.outputs = told + part.outputs
            part.progress.is_dirty = True


class Transactions:
    def __init__(self, settings: dict[str, Any], transactional_id: str) -> None:
        own = {
            "transactional.id": transactional_id,
            "transaction.timeout.ms": _TRANSACTION_TIMEOUT_MS,
            "linger.ms": 5,
            "compression.type": "lz4",
            # The broker decides what is too large, by its own or its topic's max.message.bytes.
            "message.max.bytes": 100_000_000,
            **STEADY_TRANSACTIONS,
        }
        self._producer = Producer(own | settings, logger=LIBRDKAFKA_LOG)
        self._is_ready = False

    def run(self, made: Transaction) -> None:
        """Written as a whole when it returns; not at all when it raises."""
        try:
            with fatal_errors_told():
                self._run(made)
        except KafkaException as error:
            self._explain(error)

    def _run(self, made: Transaction) -> None:
        if not self._is_ready:
            self._producer.init_transactions(_TIMEOUT_S)
            self._is_ready = True
        self._producer.begin_transaction()
        for each in made.outputs:
            self._produce(each)
        self._producer.send_offsets_to_transaction(made.offsets, made.group, _TIMEOUT_S)
        self._commit()

    def _produce(self, record: Sent) -> None:
        while True:
            try:
                self._producer.produce(
                    record.topic, key=record.key, value=record.value, headers=record.headers
                )
                self._producer.poll(0)
                return
            except BufferError:
                self._producer.poll(0.1)

    def _commit(self) -> None:
        """One that times out is asked for again: its outcome is not known until it is answered."""
        while True:
            try:
                self._producer.commit_transaction(_TIMEOUT_S)
                return
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise

    def _explain(self, error: KafkaException) -> None:
        cause = error.args[0]
        if cause.code() not in _FENCED and not is_fatal(error):
            if self._is_ready:
                self._abort()
            raise TransactionError(f"a transaction was refused: {cause.str()}") from error
        raise FencedError(f"transactions ended: {cause.str()}") from error

    def _abort(self) -> None:
        try:
            with fatal_errors_told():
                self._producer.abort_transaction(_TIMEOUT_S)
        except KafkaException as error:
            if is_fatal(error):
                raise FencedError(f"transactions ended: {error.args[0].str()}") from error
            raise

    def close(self) -> None:
        # One that was taken over raises here, and has nothing more to say.
        with suppress(KafkaException), fatal_errors_told():
            self._producer.flush(_TIMEOUT_S)
