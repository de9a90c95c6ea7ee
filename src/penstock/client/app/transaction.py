"""Outputs and offsets in one transaction. Blocks: it runs in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from penstock.client.app.part import Part, Work
from penstock.client.dead_letter import AnyHeaders
from penstock.client.error import ClientError
from penstock.client.fatal import fatal_errors_told
from penstock.client.lasting_producer import is_fatal
from penstock.client.sender.link import DEFECTS
from penstock.client.session import LOG as LIBRDKAFKA_LOG
from penstock.client.steady import STEADY_TRANSACTIONS

_TIMEOUT_S = 30.0
_TRANSACTION_TIMEOUT_MS = 15_000
_PROPAGATION_MS = 10_000
"""How long a topic that is not there is waited for: less than a transaction may take, or its
records would seem to be late, and would be sent again, for ever."""
_FENCED = (
    KafkaError._FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
)
_OF_A_TOPIC = (
    KafkaError.TOPIC_EXCEPTION,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
)


class FencedError(ClientError):
    """Another process uses the same transactional id."""


class TransactionError(ClientError):
    """Nothing of it was written."""


class RefusedError(TransactionError):
    """For a record that would be refused again."""

    def __init__(self, records: Sequence[Sent], reason: str, *, is_certain: bool) -> None:
        """Several only where it is for their topic. Not `is_certain`: perhaps for another record,
        which was sent together with this one."""
        super().__init__(f"{records[0].topic}: {reason}")
        self.record = records[0]
        self.records = records
        self.is_certain = is_certain


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
    taken: list[tuple[Part, list[Work]]]

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
                each
                for each in part.outputs
                if each.offset < commit.offset or each.offset in commit.covered
            ]
            taken = set(told)
            part.outputs = [each for each in part.outputs if each not in taken]
            part.progress.is_dirty = bool(part.outputs)
            made.taken.append((part, told))
            made.outputs += [record for each in told for record in each.outputs or ()]
        return made

    def senders_of(self, records: Sequence[Sent]) -> list[Work]:
        wanted = {id(each) for each in records}
        works = (work for _, told in self.taken for work in told)
        return [each for each in works if any(id(one) in wanted for one in each.outputs or ())]

    def put_back(self) -> None:
        for part, told in self.taken:
            part.outputs = told + part.outputs
            part.progress.is_dirty = True


class Transactions:
    def __init__(self, settings: dict[str, Any], transactional_id: str) -> None:
        own = {
            "transactional.id": transactional_id,
            "transaction.timeout.ms": _TRANSACTION_TIMEOUT_MS,
            "topic.metadata.propagation.max.ms": _PROPAGATION_MS,
            "linger.ms": 5,
            "compression.type": "lz4",
            # The broker decides what is too large, by its own or its topic's max.message.bytes.
            "message.max.bytes": 100_000_000,
            **STEADY_TRANSACTIONS,
        }
        self._settings = own | settings
        self._producer = Producer(self._settings, logger=LIBRDKAFKA_LOG)
        self._is_ready = False
        self._refused: list[tuple[Sent, Any]] = []

    def run(self, made: Transaction) -> None:
        """Written as a whole when it returns; not at all when it raises."""
        try:
            self._try(made, one_by_one=False)
        except RefusedError as error:
            if error.is_certain:
                raise
            # Records travel together, and are refused together: which of them is it?
            self._try(made, one_by_one=True)

    def _try(self, made: Transaction, *, one_by_one: bool) -> None:
        self._refused.clear()
        try:
            with fatal_errors_told():
                self._run(made, one_by_one=one_by_one)
        except KafkaException as error:
            self._explain(error)

    def _run(self, made: Transaction, *, one_by_one: bool) -> None:
        if not self._is_ready:
            self._producer.init_transactions(_TIMEOUT_S)
            self._is_ready = True
        self._producer.begin_transaction()
        for each in made.outputs:
            self._produce(each)
            if one_by_one:
                self._settle()
        self._producer.send_offsets_to_transaction(made.offsets, made.group, _TIMEOUT_S)
        self._commit()

    def _produce(self, record: Sent) -> None:
        while True:
            try:
                self._producer.produce(
                    record.topic,
                    key=record.key,
                    value=record.value,
                    headers=record.headers,
                    on_delivery=lambda error, _: self._note(record, error),
                )
                self._producer.poll(0)
                return
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                self._note(record, error.args[0])
                raise

    def _note(self, record: Sent, error: Any) -> None:
        if error is not None and error.code() in DEFECTS:
            self._refused.append((record, error))

    def _settle(self) -> None:
        self._producer.flush(_TIMEOUT_S)
        if self._refused:
            raise KafkaException(self._refused[0][1])

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
            if self._refused:
                self._open_anew()
                raise self._refusal() from error
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

    def _refusal(self) -> RefusedError:
        record, refusal = self._refused[0]
        if refusal.code() not in _OF_A_TOPIC:
            return RefusedError([record], refusal.str(), is_certain=False)
        of_it = [one for one, _ in self._refused if one.topic == record.topic]
        return RefusedError(of_it, refusal.str(), is_certain=True)

    def _open_anew(self) -> None:
        """After a refusal: librdkafka loses count of its sequence numbers in an abort."""
        self._producer = Producer(self._settings, logger=LIBRDKAFKA_LOG)
        self._is_ready = False

    def close(self) -> None:
        # One that was taken over raises here, and has nothing more to say.
        with suppress(KafkaException), fatal_errors_told():
            self._producer.flush(_TIMEOUT_S)
